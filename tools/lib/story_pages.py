"""Figures of the stories in the documentation: tables between `<!-- figures: NAME -->` and `<!-- end of figures -->`."""

from __future__ import annotations

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Rung: its lock, in both languages.
RUNG_WORDS = {
    "none": ("no lock", "不加锁"),
    "local": ("`std::mutex`, in each process", "每个进程各自的 `std::mutex`"),
    "setnx": ("`SETNX`, no expiry", "`SETNX`，不设过期"),
    "in_finally": ("`SETNX`, deleted in a `finally`", "`SETNX`，在 `finally` 里删除"),
    "setnx_expire": ("`SETNX`, then `EXPIRE`", "先 `SETNX` 再 `EXPIRE`"),
    "expire_by_all": ("`EXPIRE` by whoever tries", "谁来尝试都 `EXPIRE`"),
    "getset": ("`SETNX` and `GETSET` with the clients' clocks", "`SETNX` 加 `GETSET`，用客户端的时钟"),
    "set_xx": ("`SET XX EX`: `setIfPresent`", "`SET XX EX`：`setIfPresent`"),
    "set_nx_ex": ("`SET NX EX`, no owner", "`SET NX EX`，不记持有者"),
    "thread_id": ("the number of a thread as owner", "以线程号为持有者"),
    "owner": ("an owner, checked and then deleted", "记持有者，先检查再删除"),
    "script": ("deleted by a script, no renewal", "用脚本删除，不续期"),
    "renewal": ("with a watchdog that renews", "看门狗续期"),
    "sentinel": ("the same, on Sentinel", "同上，在 Sentinel 上"),
    "unique_index": ("MySQL, a unique index", "MySQL 唯一索引"),
    "for_update": ("MySQL, `FOR UPDATE`", "MySQL `FOR UPDATE`"),
    "unfenced": ("etcd, never two holders, no fence", "etcd：绝无两个持有者，但不带防护令牌"),
    "tyer": ("**Tyer, with a fenced write**", "**Tyer，写入带防护令牌**"),
}
FAULT_WORDS = {
    "crowd": ("four processes at once", "四个进程同时卖"),
    "kill": ("a holder is killed", "持有者被杀死"),
    "kill_between": ("killed between the two", "在两条命令之间被杀死"),
    "ahead": ("one client's clock is 8 h ahead", "一个客户端的时钟快 8 小时"),
    "ahead_kill": ("a holder whose clock is 8 h ahead is killed", "时钟快 8 小时的持有者被杀死"),
    "slow": ("work takes twice the expiry", "业务时间是过期时间的两倍"),
    "pause_late": ("a pause between check and delete", "在检查与删除之间停顿"),
    "pause": ("a holder is paused for twice the expiry", "持有者停顿两倍过期时间"),
    "failover": ("the master dies before it has replicated", "主节点在复制之前宕机"),
    "connections": ("a holder is paused, 16 processes, 10 connections", "持有者停顿，16 个进程，10 个连接"),
    "all": ("**all of the above**", "**以上全部**"),
}
LADDER_HEAD = (
    "| lock | fault | oversold | stuck for ever | others' locks deleted | standstill beyond one ttl |",
    "| 锁 | 故障 | 超卖 | 永远卡住 | 误删他人的锁 | 超出一个 ttl 的停摆 |",
)


def write_ladder(rows: list[dict]) -> None:
    for page, language in (("docs/ladder.md", 0), ("docs/zh/ladder.md", 1)):
        replace(page, "ladder", ladder_table(rows, language))


def ladder_table(rows: list[dict], language: int) -> str:
    lines = [LADDER_HEAD[language], "|---|---|--:|--:|--:|--:|"]
    for row in rows:
        still = ("for ever", "永远")[language] if row["stuck"] else f"{row['standstill']} s"
        if row["turned_away"]:
            still += (f", {row['turned_away']} times turned away", f"，{row['turned_away']} 次被拒之门外")[language]
        cells = (RUNG_WORDS[row["rung"]][language], FAULT_WORDS[row["fault"]][language],
                 row["oversold"], row["stuck"], row["deleted"], still)
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def write_story(name: str, heads: tuple[str, str], words: dict, rows: list[dict]) -> None:
    """A row is what one way of doing it has given: {"how": ..., figure: ...}."""
    for page, language in (("docs/examples.md", 0), ("docs/zh/examples.md", 1)):
        columns = heads[language].split(" | ")
        lines = ["| " + " | ".join(columns) + " |", "|---" + "|--:" * (len(columns) - 1) + "|"]
        for row in rows:
            figures = [str(value) for key, value in row.items() if key != "how"]
            lines.append("| " + " | ".join([words[row["how"]][language], *figures]) + " |")
        replace(page, name, "\n".join(lines))


def replace(page: str, name: str, table: str) -> None:
    path = ROOT / page
    text = path.read_text()
    block = f"<!-- figures: {name} -->\n\n{table}\n\n<!-- end of figures -->"
    new, found = re.subn(rf"<!-- figures: {name} -->\n.*?<!-- end of figures -->", lambda _: block, text, flags=re.S)
    if found != 1:
        raise SystemExit(f"stories: {page} has no place for the figures of {name}")
    path.write_text(new)
