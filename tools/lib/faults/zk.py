"""Three ZooKeeper servers that are one, and what may happen to them alone: see ensemble.py."""

from __future__ import annotations

import contextlib
import os
import random
import re
import socket
import time
from typing import TYPE_CHECKING

import zk_wire
from faults import zk_views
from faults.engine import engines
from faults.ensemble import AT_LAST_S, QUICK_S, Ensemble
from faults.history import now_ns

if TYPE_CHECKING:
    from faults.lab import Lab
    from faults.proxy import Proxy

BASE = "/tyer/q"  # of what a name has
TICK_S = 0.5  # as tools/engines starts them
ANSWER_S = 5.0
CONNECTIONS_MAX = 150  # from one address, at each server: far more than the clients and the lab need
_ZXID = re.compile(r"^Zxid: 0x([0-9a-f]+)$", re.MULTILINE)
_NAME = re.compile(r"^tyer%3Afault%2F(\d+)$")


class Zk(Ensemble):
    """Every server has its own way to each other one, through proxies of its own.

    Nothing is forgotten here, whoever leads: no two holds are excused but those whose node an operator removed."""

    scheme = "zk"
    speaks = "zookeeper"
    unheard_s = 4 * TICK_S  # syncLimit
    pause_short = (0.2, 0.9)
    alone_s = (1.0, 6.0)

    def _lead_peers_through_proxies(self, lab: Lab) -> None:
        self._ways: dict[tuple[str, str], list[Proxy]] = {}
        for node in self.nodes:
            for other in self.nodes:
                if other is not node:
                    name = f"{node['name']}-to-{other['name']}"
                    self._ways[node["name"], other["name"]] = [
                        lab.make_proxy(f"{name}-{port}", other["ports"][port], rules="", speaks="any")
                        for port in ("peer", "election")
                    ]
        engines("announce", self.id, *(str(proxy.port) for way in self._ways.values() for proxy in way))
        engines("restart", self.id, "--lose-data")
        self._probes: dict[str, tuple[zk_wire.Session, str]] = {}

    @contextlib.contextmanager
    def _cut_off(self, node: str, dice: random.Random):
        """Refused, or without a word."""
        order = dice.choice(("cut", "freeze"))
        ways = [proxy for pair, way in self._ways.items() if node in pair for proxy in way]
        try:
            for proxy in ways:
                proxy.order(order)
            yield
        finally:
            for proxy in ways:
                proxy.order("pass")

    # --- what the servers say ---

    def _ask(self, node: str, word: str) -> str:
        """Empty if it does not answer."""
        answer = b""
        with contextlib.suppress(OSError):
            with socket.create_connection(("127.0.0.1", self.ports[node]), QUICK_S) as connection:
                connection.settimeout(QUICK_S)
                connection.sendall(word.encode())
                while part := connection.recv(4096):
                    answer += part
        return answer.decode(errors="replace")

    def _leader(self) -> str | None:
        """The one that calls itself so, if another one follows somebody."""
        told = {node: self._ask(node, "srvr") for node in self.ports}
        leaders = [node for node, words in told.items() if "Mode: leader" in words]
        followed = any("Mode: follower" in words for words in told.values())
        return leaders[0] if len(leaders) == 1 and followed else None

    def _era(self) -> int | None:
        told = [_ZXID.search(self._ask(node, "srvr")) for node in self.ports]
        return max((int(zxid.group(1), 16) >> 32 for zxid in told if zxid), default=None)

    def _writes_at(self, node: str) -> bool:
        """A session is written as everything is."""
        try:
            with zk_wire.Session(self.ports[node], QUICK_S):
                return True
        except (OSError, zk_wire.Refused):
            return False

    def _serves(self, node: str) -> bool:
        """Again and again in one session."""
        try:
            if node not in self._probes:
                session, path = zk_wire.Session(self.ports[node], QUICK_S), f"/probe-{node}-{now_ns()}"
                self._probes[node] = session, path
                session.create(path)
            session, path = self._probes[node]
            session.write(path)
            return True
        except (OSError, zk_wire.Refused):
            if node in self._probes:
                self._probes.pop(node)[0].close()
            return False

    # --- what is left ---

    def look_back(self) -> None:
        for node in self.nodes:
            with open(os.path.join(node["dir"], "server.log"), encoding="utf-8", errors="replace") as log:
                for thread, count in zk_views.ended_threads(log.read()).items():
                    self.notes.append(f"{node['name']}: its {thread} ended by an error of its own, {count} in all")
        views = lambda: {node: {"/".join(found) for found in self._nodes(node, ANSWER_S)} for node in self.ports}
        self.notes += zk_views.told(zk_views.differences(views))

    def leftovers(self, build: str, seconds: float) -> list[str]:
        """Nodes of holds and places; the containers they lay in are swept by the servers."""
        deadline = time.monotonic() + seconds
        while True:
            found = self._nodes(self._some_leader(), ANSWER_S)
            if not found or time.monotonic() > deadline:
                return [f"{name}/{node}" for name, node in found]
            time.sleep(0.1)

    def _nodes(self, at: str, seconds: float) -> list[tuple[str, str]]:
        with zk_wire.Session(self.ports[at], seconds) as session:
            session.sync(BASE)
            return [(name, node) for name in session.children(BASE) for node in session.children(f"{BASE}/{name}")]

    def keep(self, folder: str) -> None:
        """Also what each of them has written, which need not be the same."""
        super().keep(folder)
        for node in self.nodes:
            with contextlib.suppress(OSError):
                zk_views.copy_written(os.path.join(node["dir"], "data"), os.path.join(folder, node["name"]))

    # --- what an operator does; quick. Gives back words for the log, or None if it could not be done just now ---

    def node_removed(self, dice: random.Random) -> str | None:
        """Of a hold or a place: whoever had it is told, and the next one has it."""
        at = dice.choice(sorted(self.ports))
        try:
            with zk_wire.Session(self.ports[at], QUICK_S) as session:
                names = [name for name in session.children(BASE) if _NAME.match(name)]
                name = dice.choice(names) if names else None
                nodes = session.children(f"{BASE}/{name}") if name else []
                if not nodes:
                    return None
                node, new_from = dice.choice(nodes), now_ns()
                try:
                    session.delete(f"{BASE}/{name}/{node}")
                    old_until = now_ns()
                except OSError:
                    old_until = now_ns() + int(AT_LAST_S * 1e9)
        except (OSError, zk_wire.Refused):
            return None  # it does not answer, or the node had just gone
        self.lost(new_from, old_until + int(QUICK_S * 1e9), names=1 << int(_NAME.match(name).group(1)))
        return f"{name}/{node}"

    # --- what may happen. Each gives back when all is well again ---

    def all_killed(self, dice: random.Random) -> None:
        """At once, and started again: what they had written is there."""
        with self._away():
            engines("kill", self.id)
            time.sleep(dice.uniform(0.0, 1.5))
            engines("restart", self.id)
            self._settle()

    def server_clock(self, dice: random.Random) -> None:
        """The wall clock of a server jumps, and back: no session may end by it, nor last."""
        node = dice.choice(sorted(self.ports))
        engines("clock", self.id, node, f"{dice.choice((-1, 1)) * dice.choice((3.0, 3600.0)):g}")
        time.sleep(dice.uniform(0.5, 1.5))
        engines("clock", self.id, node, "0")

    def one_is_full(self, dice: random.Random) -> None:
        """It has as many connections from one address as it may (maxClientCnxns), and hangs up on more: its clients, who are
        cut off just then, have to find another server."""
        node = dice.choice(sorted(self.ports))
        with self._full([node]):
            for half in self._halves:
                half[node].order("reset 100")
            time.sleep(dice.uniform(0.5, 2.5))

    def all_are_full(self, dice: random.Random) -> None:
        """Whoever is connected goes on; nobody else comes in."""
        with self._away():
            with self._full(sorted(self.ports)):
                self._halves[dice.randrange(2)][dice.choice(sorted(self.ports))].order("reset 100")
                time.sleep(dice.uniform(0.5, 2.0))
            self._settle()

    @contextlib.contextmanager
    def _full(self, nodes: list[str]):
        with contextlib.ExitStack() as all_of_them:
            for node in nodes:
                for _ in range(CONNECTIONS_MAX):
                    with contextlib.suppress(OSError):
                        all_of_them.enter_context(socket.create_connection(("127.0.0.1", self.ports[node]), QUICK_S))
            yield
