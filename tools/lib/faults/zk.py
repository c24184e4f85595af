"""Three ZooKeeper servers that are one, and what may happen to them."""

from __future__ import annotations

import contextlib
import random
import re
import socket
import threading
import time
from typing import TYPE_CHECKING

import zk_wire
from faults.engine import Servers, engines
from faults.history import Op, now_ns
from faults.slowness import Slowness
from faults.some_proxy import SomeProxy

if TYPE_CHECKING:
    from faults.lab import Lab
    from faults.proxy import Proxy

BASE = "/tyer/q"  # of what a name has
TICK_S = 0.5  # as tools/engines starts them
SYNC_S = 4 * TICK_S  # without a word from the leader, before a server leaves it
QUICK_S = 0.5  # for what the timeline must not wait for
ANSWER_S = 5.0
# A command of which nobody has heard may still be done when the servers have found together again.
AT_LAST_S = 15.0
LOOK_EVERY_S = 0.1
_ZXID = re.compile(r"^Zxid: 0x([0-9a-f]+)$", re.MULTILINE)
_NAME = re.compile(r"^tyer%3Afault%2F(\d+)$")


class Zk(Servers):
    """Every server has its own way to each other one, through proxies of its own. Clients go through proxies too, each half of
    them through its own; and each begins with another server.

    Nothing is forgotten here, whoever leads: no two holds are excused but those whose node an operator removed."""

    def uris(self, lab: Lab) -> list[str]:
        self._lead_peers_through_proxies(lab)
        self._halves = [
            {node: lab.make_proxy(f"{node}-{half}", port, rules="", speaks="zookeeper") for node, port in self.ports.items()}
            for half in ("these", "those")
        ]
        lab.proxy = SomeProxy(len(self.ports), [proxy for half in self._halves for proxy in half.values()])
        self._probes: dict[str, tuple[zk_wire.Session, str]] = {}
        self._start_watching()
        lab.callback(self._stop_watching)
        lab.callback(Slowness(self.history, self.ports, self._writes_at).end)
        uris = []
        for start in range(len(self.ports)):
            for half in self._halves:
                ports = [proxy.port for proxy in half.values()]
                hosts = ",".join(f"127.0.0.1:{port}" for port in ports[start:] + ports[:start])
                uris.append(f"zk://{hosts}")
        return uris

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
        """The one that calls itself so, if another one follows somebody; None if that is not so just now."""
        told = {node: self._ask(node, "srvr") for node in self.ports}
        leaders = [node for node, words in told.items() if "Mode: leader" in words]
        followed = any("Mode: follower" in words for words in told.values())
        return leaders[0] if len(leaders) == 1 and followed else None

    def _some_leader(self) -> str:
        found: list[str] = []

        def look() -> bool:
            found[:] = [leader for leader in [self._leader()] if leader]
            return bool(found)

        self.until(look, "nobody leads")
        return found[0]

    def _some_follower(self, dice: random.Random) -> str:
        leader = self._some_leader()
        return dice.choice([node for node in sorted(self.ports) if node != leader])

    def _settle(self) -> None:
        """All follow one, and it gets things written."""
        engines("wait", self.id, "--seconds", "60")
        self.until(self._writes, "nothing can be written")

    def _writes(self) -> bool:
        leader = self._leader()
        return leader is not None and self._writes_once(leader)

    def _writes_once(self, node: str) -> bool:
        """A session is written as everything is."""
        try:
            with zk_wire.Session(self.ports[node], QUICK_S):
                return True
        except (OSError, zk_wire.Refused):
            return False

    def _writes_at(self, node: str) -> bool:
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

    def _wait_for_another(self, old: str) -> None:
        self.until(lambda: (self._leader() or old) != old and self._writes(), f"{old} was not replaced")

    # --- sessions begin anew with every leader ---

    def _start_watching(self) -> None:
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._look_who_leads)
        self._watcher.start()

    def _stop_watching(self) -> None:
        self._over.set()
        self._watcher.join()

    def _look_who_leads(self) -> None:
        """Also of those that nobody was made to replace: a busy machine is enough."""
        known = None
        while not self._over.wait(LOOK_EVERY_S):
            told = [_ZXID.search(self._ask(node, "srvr")) for node in self.ports]
            epoch = max((int(zxid.group(1), 16) >> 32 for zxid in told if zxid), default=None)
            if epoch is not None and epoch != known:
                if known is not None:
                    self.history.add(Op.LEASES_ANEW)
                known = epoch

    # --- what is left ---

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

    def leader_kill(self, dice: random.Random) -> None:
        old = self._some_leader()
        number = self.away_begins()
        engines("kill", self.id, old)
        self.history.add(Op.FAILOVER)
        self._wait_for_another(old)
        self.away_ends(number)
        time.sleep(dice.uniform(0.0, 0.5))
        engines("restart", self.id, old)
        self._settle()

    def follower_kill(self, dice: random.Random) -> None:
        victim = self._some_follower(dice)
        engines("kill", self.id, victim)
        time.sleep(dice.uniform(0.2, 1.0))
        engines("restart", self.id, victim)
        self._settle()

    def all_killed(self, dice: random.Random) -> None:
        """At once, and started again: what they had written is there."""
        number = self.away_begins()
        engines("kill", self.id)
        time.sleep(dice.uniform(0.0, 1.5))
        engines("restart", self.id)
        self._settle()
        self.away_ends(number)

    def follower_pause(self, dice: random.Random) -> None:
        """SIGSTOP: it refuses nothing and says nothing, and the majority goes on."""
        victim = self._some_follower(dice)
        engines("pause", self.id, victim)
        time.sleep(dice.uniform(0.5, 5.0))
        engines("resume", self.id, victim)
        self._settle()

    def leader_pause_short(self, dice: random.Random) -> None:
        """SIGSTOP, and back before anybody minds (but for a busy machine). What waited for it is carried out then, also for a
        session that it ends right after."""
        old = self._some_leader()
        number = self.away_begins()
        engines("pause", self.id, old)
        time.sleep(dice.uniform(0.2, 0.9) * SYNC_S)
        engines("resume", self.id, old)
        self._settle()
        self.away_ends(number)

    def leader_pause_long(self, dice: random.Random) -> None:
        """When it goes on, it takes itself for the leader until it hears of the other."""
        old = self._some_leader()
        number = self.away_begins()
        engines("pause", self.id, old)
        self.history.add(Op.FAILOVER)
        self._wait_for_another(old)
        self.away_ends(number)
        time.sleep(dice.uniform(0.2, 1.5))
        engines("resume", self.id, old)
        self._settle()

    def leader_alone(self, dice: random.Random) -> None:
        """It hears of nobody, and its clients still reach it."""
        old = self._some_leader()
        number = self.away_begins()
        with self._cut_off(old, dice):
            self.history.add(Op.FAILOVER)
            self._wait_for_another(old)
            self.away_ends(number)
            time.sleep(dice.uniform(0.3, 1.5))
        self._settle()

    def follower_alone(self, dice: random.Random) -> None:
        """It answers pings of sessions that the others end meanwhile."""
        with self._cut_off(self._some_follower(dice), dice):
            time.sleep(dice.uniform(1.0, 6.0))
        self._settle()

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

    def server_clock(self, dice: random.Random) -> None:
        """The wall clock of a server jumps, and back: no session may end by it, nor last."""
        node = dice.choice(sorted(self.ports))
        engines("clock", self.id, node, f"{dice.choice((-1, 1)) * dice.choice((3.0, 3600.0)):g}")
        time.sleep(dice.uniform(0.5, 1.5))
        engines("clock", self.id, node, "0")

    def clients_without_one(self, dice: random.Random) -> None:
        node = dice.choice(sorted(self.ports))
        self._without(dice, [half[node] for half in self._halves])

    def clients_without_all(self, dice: random.Random) -> None:
        """Half of the clients; the others go on."""
        number = self.away_begins()
        self._without(dice, list(dice.choice(self._halves).values()))
        self.away_ends(number)

    def _without(self, dice: random.Random, proxies: list[Proxy]) -> None:
        """Refused, or without an answer."""
        order = dice.choice(("cut", "freeze"))
        for proxy in proxies:
            proxy.order(order)
        time.sleep(dice.uniform(0.3, 2.0))
        for proxy in proxies:
            proxy.order("pass")
