"""Which engine: five questions, in the order that settles it soonest."""
from drawing import Drawing

TITLE = "Which engine"
ZH = {
    TITLE: "选择哪个引擎",
    "Must Java or Go programs\nshare the same locks?": "要与 Java 或 Go 程序\n共用同一把锁吗？",
    "Redisson:\n?protocol=redisson\nGo, etcdctl:\n?protocol=go": "Redisson：\n?protocol=redisson\nGo、etcdctl：\n?protocol=go",
    "Must two holders never be\npossible, even in a failover?": "即使故障转移，也绝不能\n出现两个持有者吗？",
    "etcd://": "etcd://",
    "Must it go on while\na server is away?": "一台服务器不在时\n也必须继续工作吗？",
    "redis://\nAOF always": "redis://\nAOF always",
    "Does what you write to\ncheck tokens?": "下游存储\n会检查令牌吗？",
    "redis+sentinel://\nredis+cluster://": "redis+sentinel://\nredis+cluster://",
    "Can you run etcd,\n3 or 5 servers?": "能运行 3 或 5 台\netcd 吗？",
    "redlock://\nor sentinel, cluster with\n?replicas= of all": "redlock://\n或 sentinel、cluster，\n?replicas= 写全部副本",
    "In work: postgres:// mysql:// zk://\nFor tests, in one process: memory://": "开发中：postgres:// mysql:// zk://\n供单进程测试：memory://",
    "yes": "是", "no": "否",
}


def draw(words):
    d = Drawing(TITLE, 700, words)
    left, right, w = 14, 272, 214

    def question(y, text):
        d.box(left, y, w, 62, "box", text, size=14)

    def answer(y, text, kind="mine", height=62):
        d.box(right, y, 156, height, kind, text, "on", 13, True)

    def yes(y, word="yes"):
        d.line((left + w, y + 31), (right - 2, y + 31), arrow=True)
        d.text((left + w + right) / 2, y + 25, word, "quiet", 13, "middle")

    def down(y, word):
        d.line((left + w / 2, y + 62), (left + w / 2, y + 110), arrow=True)
        d.text(left + w / 2 + 10, y + 92, word, "quiet", 13)

    question(30, "Must Java or Go programs\nshare the same locks?"), answer(16, "Redisson:\n?protocol=redisson\nGo, etcdctl:\n?protocol=go", "theirs", 90), yes(30), down(30, "no")
    question(140, "Must two holders never be\npossible, even in a failover?"), answer(140, "etcd://"), yes(140), down(140, "no")
    question(250, "Must it go on while\na server is away?"), answer(250, "redis://\nAOF always"), yes(250, "no"), down(250, "yes")
    question(360, "Does what you write to\ncheck tokens?"), answer(360, "redis+sentinel://\nredis+cluster://"), yes(360), down(360, "no")
    question(470, "Can you run etcd,\n3 or 5 servers?"), answer(470, "etcd://"), yes(470), down(470, "no")
    d.box(left, 580, 414, 64, "good", "redlock://\nor sentinel, cluster with\n?replicas= of all", "on", 13, True)
    d.text(220, 670, "In work: postgres:// mysql:// zk://\nFor tests, in one process: memory://", "quiet", 13, "middle")
    return d.svg()
