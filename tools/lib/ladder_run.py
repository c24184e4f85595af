"""One rung of the ladder under one fault: its processes, the fault, and what is counted."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import clock_shift
from resp import Connection
from story_engines import Engines, engines

TTL = 3.0  # as in examples/ladder/ladder.hpp
STOCK = 200
PROCESSES = 4
STUCK_S = 3 * TTL  # nobody sells for this long, with tickets left, and the fault over
RUN_S_MAX = 120.0
ATTEMPTS = 3
AHEAD_S = 8 * 3600.0  # a client that takes its own time zone for everybody's


@dataclasses.dataclass(frozen=True)
class Rung:
    name: str
    fault: str
    shows: str  # the mistake it is on the ladder for
    servers: str = "redis"


@dataclasses.dataclass(frozen=True)
class Fault:
    """What happens to the first of the processes, or to the servers."""

    point: str = ""  # LADDER_FAULT
    then: str = ""  # kill, or resume after pause_s, or failover
    pause_s: float = 0.0
    ahead_s: float = 0.0
    alone: bool = False  # until it is at the point, so that nobody works beside it
    processes: int = PROCESSES
    servers: str = "redis"  # for Tyer under this fault

    def servers_for(self, rung: str) -> str:
        """What is started for it; two rungs never share a failover."""
        kind = self.servers if rung == "tyer" else next(r.servers for r in RUNGS if r.name == rung)
        return f"{kind}/{rung}" if kind == "sentinel" else kind


FAULTS = {
    "crowd": Fault(),
    "kill": Fault("inside:3:stop", "kill"),
    "kill_between": Fault("between:3:stop", "kill"),
    "ahead": Fault(ahead_s=AHEAD_S),
    "ahead_kill": Fault("inside:3:stop", "kill", ahead_s=AHEAD_S, alone=True),
    "slow": Fault("inside:3:slow", "wait", 2 * TTL),
    "pause_late": Fault("checked:3:stop", "resume", TTL + 0.7),
    "pause": Fault("inside:3:stop", "resume", 2 * TTL),
    "failover": Fault("inside:3:wait", "failover", TTL + 0.5, servers="sentinel"),
    "connections": Fault("inside:3:stop", "resume", 3 * TTL, processes=16),
}

RUNGS = (
    Rung("none", "crowd", "oversold"),
    Rung("local", "crowd", "oversold"),
    Rung("setnx", "kill", "stuck"),
    Rung("in_finally", "crowd", "deleted"),
    Rung("setnx_expire", "kill_between", "stuck"),
    Rung("expire_by_all", "kill", "stuck"),
    Rung("getset", "ahead", "oversold"),
    Rung("getset", "ahead_kill", "stuck"),
    Rung("set_xx", "crowd", "stuck"),
    Rung("set_nx_ex", "slow", "deleted"),
    Rung("thread_id", "slow", "deleted"),
    Rung("owner", "pause_late", "deleted"),
    Rung("script", "slow", "oversold"),
    Rung("renewal", "pause", "oversold"),
    Rung("sentinel", "failover", "oversold", "sentinel"),
    Rung("unique_index", "kill", "stuck", "mariadb"),
    Rung("for_update", "connections", "standstill", "mariadb"),
    Rung("unfenced", "pause", "oversold", "etcd"),
)

TABLES = """
CREATE TABLE locks (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(64) NOT NULL UNIQUE, owner VARCHAR(64)) ENGINE=InnoDB;
CREATE TABLE row_locks (name VARCHAR(64) PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO row_locks VALUES ('ticket');
"""


class Servers:
    """The servers of a whole climb: a shop, and what the rungs lock on."""

    def __init__(self, program: pathlib.Path, wanted: set[str]):
        self.program, self.wanted, self.uris, self.engines = program, wanted, {}, Engines()

    def __enter__(self) -> Servers:
        self.folder = tempfile.mkdtemp(prefix="tyer-ladder-")
        self.clock = os.path.join(self.folder, "clock_shift.so")
        clock_shift.compile_to(self.clock)
        try:
            for name in sorted(self.wanted | {"redis", "shop"}):
                kind = "redis" if name == "shop" else name.split("/")[0]
                # The least that MariaDB allows; the rung has more processes than that.
                self.uris[name] = self.engines.up(kind, "--set", "max-connections=10") if kind == "mariadb" else self.engines.up(kind)
            if "mariadb" in self.uris:
                self._make_tables(self.uris["mariadb"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.engines.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make_tables(self, uri: str) -> None:
        login, place = uri.removeprefix("mysql://").split("@")
        (user, password), (address, database) = login.split(":"), place.split("/")
        host, port = address.split(":")
        command = ["mariadb", "--no-defaults", f"-h{host}", f"-P{port}", f"-u{user}", database]
        subprocess.run(command, input=TABLES, text=True, check=True, env=os.environ | {"MYSQL_PWD": password})

    def shop(self) -> Connection:
        return Connection(int(self.uris["shop"].rsplit(":", 1)[1].split("/")[0]), 5.0)


class Seller:
    """One process."""

    def __init__(self, servers: Servers, rung: str, locks: str, name: str, environment: dict[str, str]):
        self.process = subprocess.Popen(
            [servers.program, rung, servers.uris["shop"], locks, name],
            env=os.environ | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reached = threading.Event()  # it is at the point of its fault
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.process.stdout:
            if line.startswith("at "):
                self.reached.set()

    def go_on(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def stopped(self) -> bool:
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "T"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def climb(servers: Servers, rung: str, fault_name: str) -> dict:
    """A fault that has come between two holders, where it does no harm, is brought again. Not to Tyer: any run counts."""
    shows = next((r.shows for r in RUNGS if (r.name, r.fault) == (rung, fault_name)), "")
    for attempt in range(1, ATTEMPTS + 1):
        run = _climb(servers, rung, fault_name, f"{rung}/{fault_name}/{attempt}")
        if not shows or run[shows] or FAULTS[fault_name].then == "failover":
            break
    return run


def _climb(servers: Servers, rung: str, fault_name: str, name: str) -> dict:
    fault = FAULTS[fault_name]
    where = fault.servers_for(rung)
    locks = servers.uris[where]
    with servers.shop() as shop:
        shop.ask("SET", f"{name}:stock", str(STOCK))
    if fault.then == "failover":
        _cut_off_replicas(locks)
    sellers = []
    try:
        for i in range(fault.processes):
            sellers.append(Seller(servers, rung, locks, name, _environment(servers, fault, name) if i == 0 else {}))
            if fault.alone:
                sellers[0].reached.wait(RUN_S_MAX)
        trouble = Trouble(fault, sellers[0], locks)
        trouble.start()
        _watch(servers, name, trouble.over)
    finally:
        for seller in sellers:
            seller.end()
    return _counted(servers, rung, fault_name, name, trouble.away_s)


def _environment(servers: Servers, fault: Fault, name: str) -> dict[str, str]:
    environment = {"LADDER_FAULT": fault.point} if fault.point else {}
    if fault.ahead_s:
        offset = os.path.join(servers.folder, name.replace("/", "-"))
        clock_shift.begin(offset)
        clock_shift.put(offset, fault.ahead_s)
        environment |= {"LD_PRELOAD": servers.clock, "TYER_CLOCK_SHIFT": offset}
    return environment


class Trouble(threading.Thread):
    """Brings the fault."""

    def __init__(self, fault: Fault, victim: Seller, locks: str):
        super().__init__(daemon=True)
        self.fault, self.victim, self.locks = fault, victim, locks
        self.over = threading.Event()
        self.away_s = 0.0  # for so long there was no server to ask

    def run(self) -> None:
        if self.fault.point:
            if not self.victim.reached.wait(RUN_S_MAX):
                return  # the run ends without it, and shows no mistake
            while self.fault.point.endswith("stop") and not self.victim.stopped():
                time.sleep(0.01)
        if self.fault.then == "kill":
            self.victim.process.kill()
        elif self.fault.then == "resume":
            time.sleep(self.fault.pause_s)
            self.victim.process.send_signal(signal.SIGCONT)
        elif self.fault.then == "wait":
            time.sleep(self.fault.pause_s + 0.5)
        elif self.fault.then == "failover":
            self._fail_over()
        self.over.set()

    def _fail_over(self) -> None:
        begun, before = time.monotonic(), _master(self.locks)
        engines("kill", self.locks, "node-0")
        engines("resume", self.locks, "node-1", "node-2")
        while _master(self.locks) == before and time.monotonic() < begun + RUN_S_MAX:
            time.sleep(0.05)
        self.away_s = time.monotonic() - begun
        time.sleep(self.fault.pause_s)  # others are in there by now, beside it
        self.victim.go_on()


def _master(locks: str) -> int:
    sentinel = locks.split("://")[1].split(",")[0].split(":")[1]
    with Connection(int(sentinel), 5.0) as ask:
        return int(ask.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")[1])


def _cut_off_replicas(locks: str) -> None:
    """What the master grants from now on is on no replica: they are stopped, and the streams to them are closed."""
    engines("pause", locks, "node-1", "node-2")
    with Connection(_master(locks), 5.0) as ask:
        ask.ask("CLIENT", "KILL", "TYPE", "replica")


def _watch(servers: Servers, name: str, over: threading.Event) -> None:
    """Until the tickets are sold out and the fault is over, or nobody sells any more."""
    begun = seen_at = time.monotonic()
    seen = -1
    with servers.shop() as shop:
        while time.monotonic() < begun + RUN_S_MAX:
            sold, left = shop.ask("LLEN", f"{name}:sold"), int(shop.ask("GET", f"{name}:stock"))
            if sold != seen or not over.is_set():
                seen, seen_at = sold, time.monotonic()
            still = time.monotonic() - seen_at
            if over.is_set() and still > (1.0 if left <= 0 else STUCK_S):
                return
            time.sleep(0.05)


def _counted(servers: Servers, rung: str, fault: str, name: str, away_s: float) -> dict:
    with servers.shop() as shop:
        times = [int(t) for t in shop.ask("LRANGE", f"{name}:sold", "0", "-1")]
        counts = shop.ask("HGETALL", f"{name}:counts")
        left = int(shop.ask("GET", f"{name}:stock"))
    seen = dict(zip(counts[::2], map(int, counts[1::2])))
    # A holder that is at work, and lives, may be; one that does not costs a ttl. Without a server nobody can have the lock.
    allowed = 2 * TTL if FAULTS[fault].point.endswith("slow") else TTL + away_s
    gaps = [(b - a) / 1000 for a, b in zip(times, times[1:])] + [STUCK_S if left > 0 else 0.0]
    return {"rung": rung, "fault": fault, "oversold": max(0, len(times) - (STOCK - left)), "stuck": 1 if left > 0 else 0,
            "deleted": seen.get("deleted", 0), "standstill": max(0, int(max(gaps) - allowed)), "gap": round(max(gaps), 1),
            "turned_away": seen.get("turned_away", 0), "refused": seen.get("refused", 0)}
