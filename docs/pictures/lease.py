"""Why a holder stops before the engine gives the lock to somebody else."""
from drawing import Drawing

TITLE = "The lease: the window of the holder ends before the engine's"
ZH = {
    TITLE: "租约：持有者的有效窗口先于引擎的租约结束",
    "your process": "你的进程", "engine": "引擎", "acquire": "获取", "granted": "授予",
    "valid()": "valid()", "lease of the engine: ttl": "引擎的租约：ttl", "next holder": "下一位",
    "sent": "发出", "lost()": "lost()", "valid_until()": "valid_until()",
    "margin": "余量", "time →": "时间 →",
    "Counted from sending: the way to the engine\ncosts the holder, never the next one.": "从发出请求算起：路上的时间\n由持有者承担，绝不算到下一位头上。",
}


def draw(words):
    d = Drawing(TITLE, 270, words)
    d.text(14, 30, "your process", bold=True)
    d.text(14, 192, "engine", bold=True)
    d.text(426, 30, "time →", "quiet", anchor="end", size=13)
    d.line((40, 62), (40, 112), kind="faint", dashed=True)
    d.text(40, 56, "sent", "quiet", 13, "middle")
    d.line((40, 112), (72, 172), arrow=True)
    d.line((72, 172), (104, 112), arrow=True)
    d.text(52, 148, "acquire", "quiet", 12, "end")
    d.text(98, 150, "granted", "quiet", 12)
    d.box(104, 76, 196, 36, "mine", "valid()", "on", bold=True)
    d.box(72, 172, 270, 30, "soft", "lease of the engine: ttl")
    d.box(300, 112, 42, 60, "gap", "margin", "ink", 11)
    d.box(342, 76, 88, 36, "theirs", "next holder", "on", 12, True)
    d.line((342, 172), (356, 114), arrow=True)
    d.line((286, 62), (286, 76), arrow=True)
    d.text(284, 56, "lost()", "ink", 13, "end", True)
    d.line((300, 48), (300, 76), kind="line")
    d.text(302, 44, "valid_until()", "ink", 13, bold=True)
    d.text(220, 234, "Counted from sending: the way to the engine\ncosts the holder, never the next one.", "quiet", 14, "middle")
    return d.svg()
