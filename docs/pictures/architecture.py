"""The rooms, the threads, and the way of a request."""
from drawing import Drawing

TITLE = "The rooms, the threads, and the way of a request"


def draw(words):
    d = Drawing(TITLE, 502, words)
    d.box(14, 16, 296, 56, "soft")
    d.text(26, 38, "your thread", bold=True)
    d.text(26, 60, "mutex.acquire → hold", "quiet", 13)
    d.line((120, 72), (120, 108), arrow=True)
    d.text(130, 96, "one inbox", "quiet", 12)

    d.box(14, 110, 296, 212, "soft")
    d.text(26, 132, "the driver", bold=True)
    d.text(26, 152, "I/O thread, or a caller that waits", "quiet", 13)
    for i, line in enumerate(["lane: local queue, first come first served", "ticket: one id at the engine",
                              "lease machines: acquire · tenure · release", "keeper: renewal by the hundred"]):
        d.box(24, 162 + i * 39, 276, 32, "box", line, size=12)
    d.line((120, 322), (120, 356), arrow=True)
    d.text(130, 344, "the seam", "quiet", 12)

    d.box(14, 358, 296, 56, "mine", "redis · sentinel · cluster · redlock\netcd · memory", "on", 13, True)
    d.box(326, 358, 102, 56, "soft", "in work: zk\npostgres · mysql", size=12)
    d.line((90, 414), (90, 448), arrow=True)
    d.text(82, 436, "requests", "quiet", 12, "end")
    d.line((230, 450), (230, 416), dashed=True, arrow=True)
    d.text(240, 436, "pushes", "quiet", 12)
    d.box(14, 450, 296, 40, "box")
    d.text(26, 475, "server", bold=True)
    d.text(298, 475, "lock, token, queue", "quiet", 13, "end")

    d.box(326, 110, 102, 212, "soft")
    d.text(377, 132, "the watch", "ink", 14, "middle", True)
    d.text(377, 168, "deadlines,\ntimerfd on\nBOOTTIME", "quiet", 13, "middle")
    d.line((300, 256), (326, 256), arrow=True)
    d.line((377, 110), (377, 44), (312, 44), arrow=True)
    d.text(385, 80, "lost()", "ink", 13, bold=True)
    return d.svg()
