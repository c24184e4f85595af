"""From one owner to the next in three requests."""
from drawing import Drawing

TITLE = "The hand-over: three requests, whether two wait or a thousand"
ZH = {
    TITLE: "移交：三个请求，不论两个还是一千个等待者",
    "holder": "持有者", "engine": "引擎", "waiter": "等待者",
    "1 queue": "1 排队", "place in the queue": "队列中的位置", "2 release": "2 释放", "gives it to the\nhead, same step": "同一步里交给\n队首",
    "wake-up": "唤醒", "3 claim": "3 认领", "token, full ttl": "令牌、完整 ttl",
    "valid from sending the claim": "从发出认领起有效",
    "A wake-up that is lost costs one look-again,\na waiter that died one waiter lease:\nnever a whole ttl.": "唤醒丢失，代价是再看一次；等待者崩溃，\n代价是一个等待租约：绝不是整个 ttl。",
}


def draw(words):
    d = Drawing(TITLE, 400, words)
    x = d.lanes(["holder", "engine", "waiter"], 20, 320)
    a, e, w = x["holder"], x["engine"], x["waiter"]
    d.box(a - 6, 60, 12, 96, "mine")
    d.message(86, w, e, "1 queue")
    d.message(118, e, w, "place in the queue", dashed=True)
    d.message(158, a, e, "2 release")
    d.text(e - 10, 196, "gives it to the\nhead, same step", "quiet", 13, "end")
    d.message(204, e, w, "wake-up", dashed=True)
    d.message(240, w, e, "3 claim")
    d.message(278, e, w, "token, full ttl")
    d.box(w - 6, 290, 12, 32, "theirs")
    d.text(w - 14, 314, "valid from sending the claim", "quiet", 12, "end")
    d.text(220, 350, "A wake-up that is lost costs one look-again,\na waiter that died one waiter lease:\nnever a whole ttl.", "quiet", 14, "middle")
    return d.svg()
