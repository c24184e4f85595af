"""What a token is for: the writer that slept."""
from drawing import Drawing

TITLE = "Fencing: the resource refuses a holder that was overtaken"
ZH = {
    TITLE: "防护：下游存储拒绝已被超越的持有者",
    "worker A": "进程 A", "lock": "锁", "worker B": "进程 B", "database": "数据库",
    "token 33": "令牌 33", "token 34": "令牌 34", "acquire": "获取", "paused": "被暂停", "lease is over": "租约结束",
    "write, 34": "写，34", "write, 33": "写，33", "accepted": "接受", "refused: 33 < 34": "拒绝：33 < 34",
    "No lock can stop A from believing.\nThe database can stop its write.": "没有哪把锁能阻止 A 自以为持有锁，\n但数据库能拒绝它的写入。",
}


def draw(words):
    d = Drawing(TITLE, 420, words)
    x = d.lanes(["worker A", "lock", "worker B", "database"], 20, 350)
    a, lock, b, db = x["worker A"], x["lock"], x["worker B"], x["database"]
    d.message(80, a, lock, "acquire")
    d.message(108, lock, a, "token 33", dashed=True)
    d.box(a - 40, 134, 80, 150, "gap", "paused", "ink", 14, True)
    d.box(lock - 50, 140, 100, 26, "soft", "lease is over", size=13)
    d.message(194, b, lock, "acquire")
    d.message(222, lock, b, "token 34", dashed=True)
    d.message(252, b, db, "write, 34")
    d.text(db, 284, "accepted", "good", 13, "middle", True)
    d.line((a, 304), (db, 322), arrow=True)
    d.text((a + db) / 2, 302, "write, 33", size=13, anchor="middle")
    d.text(db + 50, 346, "refused: 33 < 34", "gone", 13, "end", True)
    d.text(220, 382, "No lock can stop A from believing.\nThe database can stop its write.", "quiet", 14, "middle")
    return d.svg()
