"""Who waits where: inside a process, and at the engine."""
from drawing import Drawing

TITLE = "The queue: one contender of each process at the engine"
ZH = {
    TITLE: "队列：每个进程在引擎那里只有一个竞争者",
    "process 1": "进程 1", "process 2": "进程 2", "process 3": "进程 3",
    "engine: order/42": "引擎：order/42", "holds": "持有", "1st": "第 1", "2nd": "第 2", "local queue": "本地队列",
    "First come, first served at the engine. Inside\na process the lock goes on without a round\ntrip, at most 16 times in a row.": "引擎那里先来先得。进程内部的移交\n不需要网络往返，最多连续 16 次。",
}


def draw(words):
    d = Drawing(TITLE, 372, words)
    d.box(270, 30, 156, 242, "soft")
    d.text(348, 56, "engine: order/42", "ink", 13, "middle", True)
    for i, (name, slot, kind) in enumerate([("process 1", "holds", "mine"), ("process 2", "1st", "box"), ("process 3", "2nd", "box")]):
        y = 30 + i * 76
        d.box(14, y, 196, 66, "box")
        d.text(26, y + 24, name, "ink", 14, bold=True)
        d.text(26, y + 50, "local queue", "quiet", 12)
        for k in range(3 if i != 1 else 1):
            d.box(182 - k * 24, y + 36, 18, 18, kind if k == 0 and i == 0 else "theirs" if k == 0 else "soft")
        d.box(290, y + 44, 116, 34, kind, slot, "on" if kind == "mine" else "ink", bold=kind == "mine")
        d.line((204, y + 46), (286, y + 60), arrow=True)
    d.text(220, 306, "First come, first served at the engine. Inside\na process the lock goes on without a round\ntrip, at most 16 times in a row.", "quiet", 14, "middle")
    return d.svg()
