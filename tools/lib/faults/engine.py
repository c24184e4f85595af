"""The servers under test, started and disturbed only through tools/engines."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import resp
from faults import redis_scripts
from faults.children import LabError
from faults.history import History, LostBy, Op, now_ns
from faults.intents import Intents
from faults.leftovers import Leftovers
from faults.proxy import redis_rules

if TYPE_CHECKING:
    from faults.deaths import Deaths
    from faults.lab import Lab

TOOL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "engines")
TOOL_S_MAX = 60.0
ANSWER_S_MAX = 2.0
ASK_S_MAX = 10.0  # in several attempts
PREFIX = "tyer:"  # of the keys, by default
AGREE_S_MAX = 60.0

intents = Intents()  # of this process: it is the only one that does anything to its servers


def engines(*words: str) -> str:
    with intents.during(words):
        done = subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=TOOL_S_MAX, check=False)
    if done.returncode != 0:
        raise LabError(f"tools/engines {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Servers:
    """One instance of tools/engines. What takes time runs on a thread of its own; one such thing at a time."""

    sees_queue = False  # whether the proxy knows the requests that go by
    confirmed_by = 0  # replicas, for a grant to count
    keeps_all = True  # what a server had when it ended, it has when it is started again
    deaths: Deaths | None = None

    def __init__(self, kind: str, options: list[str], history: History):
        self.history = history
        facts = json.loads(engines("up", kind, "--json", "--owner", str(os.getpid()), *options))
        self.id: str = facts["id"]
        self.uri: str = facts["uri"]
        self.nodes: list[dict] = facts["nodes"]
        self.ports: dict[str, int] = {node["name"]: node["ports"]["client"] for node in self.nodes}
        self.busy = threading.Lock()
        self._thread: threading.Thread | None = None
        self._outages = itertools.count(1)
        self._open: dict[int, int] = {}  # outages that have not ended, and the thread that began each
        self.shifted = False
        self.problem: LabError | None = None
        self.notes: list[str] = []  # what the engine did by itself, for whoever reads the verdict

    def uris(self, lab: Lab) -> list[str]:
        """Where the clients go: each process to one of these. What stands between is made here."""
        raise NotImplementedError

    def masters(self) -> list[int]:
        """Of Redis: the ports at which there must be no keys when all is over."""
        raise NotImplementedError

    def leftovers(self, build: str, seconds: float) -> list[str]:
        """When all is over: waits for as long as a lease can still run; gives back what should not be there."""
        found = []
        show = redis_scripts.embedded(build)["show"][0].text
        for port in self.masters():
            with self.connect_to(port) as connection:
                found += Leftovers(connection, PREFIX, show).wait(seconds)
        return found

    def destroy(self) -> None:
        if self._thread:
            self._thread.join()
        engines("down", self.id)

    def start(self, what: Callable[[], None]) -> bool:
        """Does it on a thread. False if something is under way."""
        if not self.busy.acquire(blocking=False):
            return False
        self._thread = threading.Thread(target=self._run, args=(what,))
        self._thread.start()
        return True

    def _run(self, what: Callable[[], None]) -> None:
        died = self.deaths.count if self.deaths else 0
        try:
            what()
        except (LabError, OSError, resp.ReplyError, subprocess.TimeoutExpired) as error:
            self._fell_through(error, died)
        finally:
            self.busy.release()

    def _fell_through(self, error: Exception, died: int) -> None:
        """What was under way: no wonder, if a server has died by itself meanwhile."""
        try:
            if self.deaths and self.deaths.look() > died:
                self.all_well_again()
                for number in [number for number, thread in self._open.items() if thread == threading.get_ident()]:
                    self.away_ends(number)
                self.notes.append(f"what was under way then was broken off: {error}")
                return
        except (LabError, OSError, resp.ReplyError, subprocess.TimeoutExpired) as another:
            error = another
        self.problem = LabError(str(error))

    def all_well_again(self) -> None:
        """Whatever was under way: nothing of it is left."""
        raise LabError("a server died by itself while something else was done to them")

    def is_well(self, node: str) -> bool:
        """One that was just started, and that answers."""
        return True

    def can_grant(self, node: str) -> bool:
        """Whether it is a master, with as many replicas as have to confirm a grant."""
        role = self.try_node(node, "ROLE", seconds=1.0)
        return bool(role) and role[0] == "master" and (not self.confirmed_by or len(role[2]) >= self.confirmed_by)

    def away_begins(self, names: int = 0, since_ns: int | None = None) -> int:
        """Outages may overlap, so each has a number."""
        number = next(self._outages)
        self._open[number] = threading.get_ident()
        self.history.add(Op.AWAY_BEGIN, since_ns, number=number, names=names)
        return number

    def away_ends(self, number: int) -> None:
        self.history.add(Op.AWAY_END, number=number)
        self._open.pop(number, None)

    def lost(
        self, new_from: int, old_until: int, how: LostBy = LostBy.NOTHING_SPECIAL, names: int = 0, pid: int = 0
    ) -> None:
        self.history.add(Op.DATA_LOSS, new_from, until_ns=old_until, names=names, how=how, pid=pid)

    def connect_to(self, port: int, seconds: float = ANSWER_S_MAX) -> resp.Connection:
        return resp.Connection(port, seconds)

    def ask_node(self, name: str, *words: str):
        """Asked again when the connection is cut, as the lab's own CLIENT KILL does. Whether it was carried out before
        that, nobody knows: so only for what may be done twice, and an error of the second time is no error."""
        deadline = time.monotonic() + ASK_S_MAX
        cut = False
        while True:
            try:
                return self.ask_node_once(name, *words)
            except resp.ReplyError as error:
                if not cut:
                    raise resp.ReplyError(f"{name} answered {' '.join(words[:2])} with: {error}") from None
                return None
            except OSError as error:
                if time.monotonic() > deadline:
                    raise LabError(f"{name} does not answer {' '.join(words[:2])}: {error}") from None
                cut = True
                time.sleep(0.02)

    def ask_node_once(self, name: str, *words: str):
        with self.connect_to(self.ports[name]) as connection:
            return connection.ask(*words)

    def try_node(self, name: str, *words: str, seconds: float = 0.3):
        """None if it does not answer: it may be down, or stopped."""
        try:
            with self.connect_to(self.ports[name], seconds) as connection:
                return connection.ask(*words)
        except (OSError, resp.ReplyError):
            return None

    def shift_clocks(self, seconds: float) -> None:
        """Every second server's clock is this far ahead (behind, if negative): so a replica's differs from its
        master's, and a lease ends earlier or later when the one takes over from the other."""
        for node in sorted(name for name in self.ports if name.startswith("node-"))[1::2]:
            engines("clock", self.id, node, f"{seconds:g}")
        self.shifted = True

    def keep(self, folder: str) -> None:
        """For whoever looks at the histories: what the servers wrote down for people, and (if it tells anything) for themselves."""
        for node in self.nodes:
            with contextlib.suppress(OSError):
                shutil.copy(os.path.join(node["dir"], "server.log"), os.path.join(folder, f"{node['name']}.log"))

    def look_back(self) -> None:
        """When all is over: notes what happened by itself."""

    def state(self) -> str:
        """Of the servers, for whoever wants to know why something did not come to pass."""
        return ""

    def until(self, so_far: Callable[[], object], missing: str, seconds: float = AGREE_S_MAX) -> None:
        deadline = time.monotonic() + seconds
        while not so_far():
            if time.monotonic() > deadline:
                raise LabError(f"{missing} within {seconds:g} s{self.state()}")
            time.sleep(0.02)

    def heal(self) -> None:
        if self._thread:
            self._thread.join()
        self.raise_problem()

    def raise_problem(self) -> None:
        if self.problem:
            raise self.problem


class OneServer(Servers):
    """One server, and a proxy before it."""

    @property
    def port(self) -> int:
        return next(iter(self.ports.values()))

    def restart(self, down_s: float, lose_data: bool) -> bool:
        """kill -9, some time without a server, a new one on the same port. False if another one is under way."""
        return self.start(lambda: self._restart(down_s, lose_data))

    def _restart(self, down_s: float, lose_data: bool) -> None:
        number = self.away_begins()
        engines("kill", self.id)
        old_until = now_ns()
        time.sleep(down_s)
        new_from = now_ns()
        engines("restart", self.id, *(["--lose-data"] if lose_data else []))
        if lose_data:
            self.lost(new_from, old_until)
        self.away_ends(number)


class Engine(OneServer):
    """A server of Redis."""

    sees_queue = True

    def uris(self, lab: Lab) -> list[str]:
        lab.proxy = lab.make_proxy("proxy", self.port, redis_rules(lab.build))
        return [f"redis://127.0.0.1:{lab.proxy.port}"]

    def masters(self) -> list[int]:
        return [self.port]

    def ask(self, *words: str):
        """Straight to the server, past the proxy. None if it is being restarted just now."""
        if not self.busy.acquire(blocking=False):
            return None
        try:
            with self.connect_to(self.port) as connection:
                return connection.ask(*words)
        finally:
            self.busy.release()

    def flush_all(self) -> bool:
        new_from = now_ns()
        if self.ask("FLUSHALL") is None:
            return False
        self.lost(new_from, now_ns())
        return True
