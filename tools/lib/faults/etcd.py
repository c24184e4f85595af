"""Three etcd servers that are one, and what may happen to them."""

from __future__ import annotations

import base64
import contextlib
import random
import re
import threading
import time
from typing import TYPE_CHECKING

import etcd_json
from faults.children import LabError
from faults.engine import PREFIX, Servers, engines
from faults.history import Op, now_ns
from faults.slowness import Slowness
from faults.some_proxy import SomeProxy

if TYPE_CHECKING:
    from faults.lab import Lab
    from faults.proxy import Proxy

ELECTION_S = 1.0  # without a word from the leader, before another wants to be it; twice that at the most
QUICK_S = 0.5  # for what the timeline must not wait for
# A command of which nobody has heard may still be done when the servers have found together again.
AT_LAST_S = 15.0
LOOK_EVERY_S = 0.1
_PID = re.compile(rb" pid (\d+) ")


class Etcd(Servers):
    """Servers reach each other through proxies, which know from the header of a request who speaks. Clients go through
    proxies too, each half of them through its own; and each begins with another server.

    Nothing is forgotten here, whoever leads: no two holds are excused but those whose lease an operator revoked."""

    def uris(self, lab: Lab) -> list[str]:
        self._lead_peers_through_proxies(lab)
        self._halves = [
            {node: lab.make_proxy(f"{node}-{half}", port, rules="", speaks="grpc") for node, port in self.ports.items()}
            for half in ("these", "those")
        ]
        lab.proxy = SomeProxy(len(self.ports), [proxy for half in self._halves for proxy in half.values()])
        self._start_watching()
        lab.callback(self._stop_watching)
        lab.callback(Slowness(self.history, self.ports, self._reads).end)
        uris = []
        for start in range(len(self.ports)):
            for half in self._halves:
                ports = [proxy.port for proxy in half.values()]
                uris.append("etcd://" + ",".join(f"127.0.0.1:{port}" for port in ports[start:] + ports[:start]))
        return uris

    def _lead_peers_through_proxies(self, lab: Lab) -> None:
        """From the very beginning: servers that have ever known each other otherwise go on so."""
        self._peers: dict[str, Proxy] = {}
        for facts in self.nodes:
            node, port = facts["name"], facts["ports"]["peer"]
            self._peers[node] = lab.make_proxy(f"{node}-peer", port, rules="", speaks="any")
        engines("announce", self.id, *(str(proxy.port) for proxy in self._peers.values()))
        engines("restart", self.id, "--lose-data")

    # --- what the servers say ---

    def ask_json(self, node: str, path: str, words: dict, seconds: float = etcd_json.ANSWER_S_MAX) -> dict:
        try:
            return etcd_json.ask(self.ports[node], path, words, seconds)
        except etcd_json.Refused as error:
            raise LabError(f"{node} answered {path} with: {error}") from None

    def _try(self, node: str, path: str, words: dict | None = None) -> dict | None:
        """None if it does not answer, or refuses."""
        with contextlib.suppress(OSError, LabError):
            return self.ask_json(node, path, words or {}, QUICK_S)
        return None

    def _id(self, node: str) -> str:
        """Changes when a server is replaced."""
        self.until(lambda: self._try(node, "maintenance/status"), f"{node} does not answer")
        return self.ask_json(node, "maintenance/status", {})["header"]["member_id"]

    def _leader(self) -> str | None:
        """The one that others follow, too; None if that is not so just now."""
        told = {node: self._try(node, "maintenance/status") for node in self.ports}
        named = [status["leader"] for status in told.values() if status and status.get("leader", "0") != "0"]
        for node, status in told.items():
            if status and named.count(status["header"]["member_id"]) >= 2:
                return node
        return None

    def _some_leader(self) -> str:
        self.until(self._leader, "nobody leads")
        return self._leader() or self._some_leader()

    def _settle(self) -> None:
        """All follow one, and it gets things written."""
        engines("wait", self.id, "--seconds", "30")
        self.until(self._writes, "nothing can be written")

    def _writes(self) -> bool:
        """A lease that nobody uses goes through the same log as everything."""
        leader = self._leader()
        return leader is not None and self._try(leader, "lease/grant", {"TTL": 1}) is not None

    def _reads(self, node: str) -> bool:
        """Through the leader and most of the servers, as every read is that a client makes."""
        return self._try(node, "kv/range", {"key": base64.b64encode(b"whatever").decode()}) is not None

    def _wait_for_another(self, old: str) -> None:
        self.until(lambda: (self._leader() or old) != old and self._writes(), f"{old} was not replaced")

    # --- leases begin anew with every leader ---

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
            told = [self._try(node, "maintenance/status") for node in self.ports]
            term = max((int(status["raftTerm"]) for status in told if status and "raftTerm" in status), default=None)
            if term is not None and term != known:
                if known is not None:
                    self.history.add(Op.LEASES_ANEW)
                known = term

    # --- what is left ---

    def leftovers(self, build: str, seconds: float) -> list[str]:
        deadline = time.monotonic() + seconds
        while True:
            keys = self._keys()
            if not keys or time.monotonic() > deadline:
                return [f"{base64.b64decode(kv['key'])!r}, lease {kv.get('lease', 'none')}" for kv in keys]
            time.sleep(0.1)

    def _keys(self) -> list[dict]:
        return self.ask_json(self._some_leader(), "kv/range", _all_under(PREFIX), 5.0).get("kvs", [])

    # --- what an operator does; quick. Gives back words for the log, or None if it could not be done just now ---

    def compact(self, dice: random.Random) -> str | None:
        """Whoever watches from an older revision is told that what he waits for may have passed."""
        node = dice.choice(sorted(self.ports))
        status = self._try(node, "maintenance/status")
        revision = status and status["header"]["revision"]
        done = revision and self._try(node, "kv/compaction", {"revision": revision})
        return f"{node}: at {revision}" if done else None

    def defrag(self, dice: random.Random) -> str | None:
        """The server stands still for it."""
        node = dice.choice(sorted(self.ports))
        return None if self._try(node, "maintenance/defragment") is None else node

    def lease_revoke(self, dice: random.Random) -> str | None:
        """All that one process has by it is gone: as by FLUSHALL, but nobody else is concerned."""
        node = dice.choice(sorted(self.ports))
        read = self._try(node, "kv/range", _all_under(PREFIX))
        found = [(kv["lease"], pid) for kv in (read or {}).get("kvs", []) if "lease" in kv and (pid := _pid_of(kv))]
        if not found:
            return None
        lease, pid = dice.choice(found)
        new_from = now_ns()
        try:
            self.ask_json(node, "lease/revoke", {"ID": lease}, QUICK_S)
            old_until = now_ns()
        except LabError:
            return None  # refused: it had just ended
        except OSError:
            old_until = now_ns() + int(AT_LAST_S * 1e9)
        self.lost(new_from, old_until, pid=pid)
        return f"{int(lease):x} of pid {pid}"

    # --- what may happen. Each gives back when all is well again ---

    def leader_kill(self, dice: random.Random) -> None:
        old = self._some_leader()
        self._kill_leader(old)
        time.sleep(dice.uniform(0.0, 0.5))
        engines("restart", self.id, old)
        self._settle()

    def _kill_leader(self, old: str) -> None:
        number = self.away_begins()
        engines("kill", self.id, old)
        self.history.add(Op.FAILOVER)
        self._wait_for_another(old)
        self.away_ends(number)

    def follower_kill(self, dice: random.Random) -> None:
        victim = self._some_follower(dice)
        engines("kill", self.id, victim)
        time.sleep(dice.uniform(0.2, 1.0))
        engines("restart", self.id, victim)
        self._settle()

    def _some_follower(self, dice: random.Random) -> str:
        leader = self._some_leader()
        return dice.choice([node for node in sorted(self.ports) if node != leader])

    def follower_pause(self, dice: random.Random) -> None:
        """SIGSTOP: it refuses nothing and says nothing, and the majority goes on. Whoever talks to it has to leave it, also
        if it only holds or only waits."""
        victim = self._some_follower(dice)
        engines("pause", self.id, victim)
        time.sleep(dice.uniform(0.5, 5.0))
        engines("resume", self.id, victim)
        self._settle()

    def leader_pause_short(self, dice: random.Random) -> None:
        """SIGSTOP, and back before anybody minds (but for a busy machine)."""
        old = self._some_leader()
        number = self.away_begins()
        engines("pause", self.id, old)
        time.sleep(dice.uniform(0.2, 0.7) * ELECTION_S)
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

    def leader_moves(self, dice: random.Random) -> None:
        """As an operator does before maintenance."""
        old, new = self._some_leader(), self._some_follower(dice)
        number = self.away_begins()
        # Refused if that one is behind, or not connected just now.
        words = {"targetID": self._id(new)}
        self.until(
            lambda: self._leader() != old or self._try(old, "maintenance/transfer-leadership", words) is not None,
            f"{old} does not let {new} lead",
        )
        self._settle()
        self.away_ends(number)

    def leader_alone(self, dice: random.Random) -> None:
        """It hears of nobody, and its clients still reach it."""
        old = self._some_leader()
        number = self.away_begins()
        with self._cut_off(old):
            self.history.add(Op.FAILOVER)
            self._wait_for_another(old)
            self.away_ends(number)
            time.sleep(dice.uniform(0.3, 1.5))
        self._settle()

    def follower_alone(self, dice: random.Random) -> None:
        """Whoever talks to it has to find out that it is in a minority."""
        with self._cut_off(self._some_follower(dice)):
            time.sleep(dice.uniform(0.5, 3.0))
        self._settle()

    @contextlib.contextmanager
    def _cut_off(self, node: str):
        word = f"{int(self._id(node)):x}"
        try:
            for other, proxy in self._peers.items():
                proxy.order("cut" if other == node else f"cut {word}")
            yield
        finally:
            for proxy in self._peers.values():
                proxy.order("pass")

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

    def member_replaced(self, dice: random.Random) -> None:
        """Gone for good, whoever it was; a new one, without data, has its name and address."""
        old = dice.choice(sorted(self.ports))
        if old == self._some_leader():
            self._kill_leader(old)
        engines("replace", self.id, old)
        self._settle()


def _all_under(prefix: str) -> dict[str, str]:
    begin = prefix.encode()
    return {"key": etcd_json.binary(begin), "range_end": etcd_json.binary(begin[:-1] + bytes([begin[-1] + 1]))}


def _pid_of(kv: dict) -> int | None:
    """Whose it is says the value, for people."""
    found = _PID.search(base64.b64decode(kv.get("value", "")))
    return int(found.group(1)) if found else None
