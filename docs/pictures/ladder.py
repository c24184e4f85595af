"""The ladder of locks: what each rung got wrong under its fault. The figures are those of tools/ladder --write."""
import json
import pathlib

from drawing import WIDTH, Drawing

NAMES = {
    "none": "no lock", "local": "a mutex in each process", "setnx": "SETNX", "in_finally": "DEL in a finally",
    "setnx_expire": "SETNX, then EXPIRE", "expire_by_all": "EXPIRE by all who try",
    "getset": "GETSET, clients' clocks", "set_xx": "SET XX EX", "set_nx_ex": "SET NX EX", "thread_id": "owner: a thread's id",
    "owner": "check, then delete", "script": "script, no renewal",
    "renewal": "with a watchdog", "sentinel": "watchdog, on Sentinel", "unique_index": "MySQL, unique index",
    "for_update": "MySQL, FOR UPDATE", "unfenced": "etcd, without a fence", "tyer": "Tyer, fenced",
}
FAULTS = {
    "crowd": "four processes", "kill": "killed inside", "kill_between": "killed between", "ahead": "a clock 8 h ahead", "ahead_kill": "8 h ahead, killed",
    "slow": "slow work", "pause_late": "paused before DEL", "pause": "paused inside", "failover": "failover",
    "connections": "10 connections", "all": "all of these faults",
}
TITLE, OVERSOLD, STUCK, DELETED, STILL = "What each lock got wrong", "oversold", "stuck", "deleted", "standstill"
ZH = {
    TITLE: "每一种锁错在哪里", OVERSOLD: "超卖", STUCK: "卡死", DELETED: "误删", STILL: "停摆", "for ever": "永远",
    "no lock": "不加锁", "a mutex in each process": "进程内互斥锁", "SETNX": "SETNX", "DEL in a finally": "finally 里 DEL",
    "SETNX, then EXPIRE": "先 SETNX 再 EXPIRE", "EXPIRE by all who try": "谁来都 EXPIRE", "owner: a thread's id": "以线程号为持有者",
    "GETSET, clients' clocks": "GETSET，客户端时钟", "SET XX EX": "SET XX EX", "SET NX EX": "SET NX EX", "check, then delete": "先检查再删除",
    "script, no renewal": "脚本删除，不续期", "with a watchdog": "看门狗续期", "watchdog, on Sentinel": "看门狗，Sentinel",
    "MySQL, unique index": "MySQL 唯一索引", "MySQL, FOR UPDATE": "MySQL FOR UPDATE", "etcd, without a fence": "etcd，不带防护令牌", "Tyer, fenced": "Tyer，带防护令牌",
    "four processes": "四个进程", "killed inside": "业务中被杀死", "killed between": "两条命令之间被杀死", "a clock 8 h ahead": "时钟快 8 小时", "8 h ahead, killed": "时钟快 8 小时，被杀死",
    "slow work": "业务过慢", "paused before DEL": "DEL 之前停顿", "paused inside": "业务中停顿", "failover": "主从切换",
    "10 connections": "只有 10 个连接", "all of these faults": "以上全部故障",
}
ROW, TOP, LEFT = 40, 74, 178
STEP = (WIDTH - LEFT - 8) / 4


class Plain(dict):
    """Words that need no translation stand for themselves: numbers."""

    def __missing__(self, key):
        return key


def draw(words):
    rows = json.loads((pathlib.Path(__file__).parent / "ladder.json").read_text())
    d = Drawing(TITLE, TOP + ROW * len(rows) + 10, Plain(words) if words else {})
    d.text(14, 28, TITLE, size=16, bold=True)
    for i, head in enumerate((OVERSOLD, STUCK, DELETED, STILL)):
        d.text(LEFT + STEP * (i + 0.5), TOP - 12, head, "quiet", 12, "middle")
    for n, row in enumerate(rows):
        y = TOP + ROW * n
        d.text(14, y + 16, NAMES[row["rung"]], size=13, bold=row["rung"] == "tyer")
        d.text(14, y + 31, FAULTS[row["fault"]], "quiet", 11)
        still = "for ever" if row["stuck"] else f"{row['standstill']} s"
        cells = ((row["oversold"], str(row["oversold"])), (row["stuck"], str(row["stuck"])),
                 (row["deleted"], str(row["deleted"])), (row["stuck"] or row["standstill"], still))
        for i, (bad, text) in enumerate(cells):
            d.box(LEFT + STEP * i + 3, y + 4, STEP - 6, ROW - 10, "gone" if bad else "good", text, "on", 13 if len(text) < 6 else 11, bold=bool(bad))
    return d.svg()
