"""A cluster of masters and replicas, and what may happen to it."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import cluster_map
from faults import names
from faults.bus import Bus
from faults.children import LabError
from faults.engine import engines
from faults.history import LostBy, Op, now_ns
from faults.key_loss import KeyLoss
from faults.lookout import Lookout
from faults.refusals import Refusals

if TYPE_CHECKING:
    from faults.lab import Lab

BUS_OFFSET = 10000
GIVEN_UP_S = 6.0  # a planned failover that took longer than five seconds is not carried out
REPLACED_S = 3.0  # from the first doubt on, with some reserve
PAUSED_S = 0.5  # a planned failover that took longer was an outage: the master writes nothing while it is under way


class Cluster(Refusals, KeyLoss):
    """Every node announces a port of ours for the bus, so that a master can be cut off from the others and still be
    there for its clients. Replication is refused (PSYNC) for that time."""

    keeps_all = False

    def uris(self, lab: Lab) -> list[str]:
        self._ids = {node: self.ask_node(node, "CLUSTER", "MYID") for node in self.ports}
        self._bus = Bus({self._ids[node]: port + BUS_OFFSET for node, port in self.ports.items()})
        lab.callback(self._bus.destroy)
        for node, identity in self._ids.items():
            self.ask_node(node, "CONFIG", "SET", "cluster-announce-bus-port", str(self._bus.ports[identity]))
            self.ask_node(node, "CONFIG", "REWRITE")
        self.until(lambda: all(self._all_through_the_bus(node) for node in self.ports), "the nodes do not use our bus")
        engines("wait", self.id, "--seconds", "30")
        self._since = now_ns()
        self._known = self._holders()
        if self.confirmed_by:
            self._watch_replicas(lab)
        return [self.uri]

    def _watch_replicas(self, lab: Lab) -> None:
        """A master and its replicas keep together: one of them has to be a master with enough of the others."""
        for port in self.masters():
            master = next(node for node, own in self.ports.items() if own == port)
            lab.callback(self._lookout_for([master, *self._living_replicas(master)]).end)

    def _lookout_for(self, group: list[str]) -> Lookout:
        return Lookout(self, lambda: any(map(self.can_grant, group)), lambda: self._names_of(group))

    def _names_of(self, group: list[str]) -> int:
        ports = [self.ports[node] for node in group]
        return sum(1 << number for number, port in self._known.items() if port in ports)

    def _all_through_the_bus(self, node: str) -> bool:
        seen = self.try_node(node, "CLUSTER", "NODES") or ""
        lines = [line.split() for line in seen.splitlines() if "myself" not in line]
        announced = {words[0]: int(words[1].partition("@")[2].partition(",")[0]) for words in lines}
        return len(announced) == len(self.ports) - 1 and all(self._bus.ports[i] == p for i, p in announced.items())

    def masters(self) -> list[int]:
        return sorted(set(self._owners().values()))

    def _owners(self) -> dict[int, int]:
        """Slot to port, by the newest word of those that answer."""
        reports = {}
        for node, port in self.ports.items():
            if told := self.try_node(node, "CLUSTER", "NODES"):
                reports[port] = cluster_map.parse(told)
        return cluster_map.owners(cluster_map.merged(reports))

    def _holders(self) -> dict[int, int | None]:
        """By the number of a name, the port of its master."""
        owners = self._owners()
        return {number: owners.get(names.slot(number)) for number in range(names.COUNT)}

    def look_back(self, ours: int = 0) -> None:
        """If a name is not where we know it to be, its master was replaced without our doing, as happens on a machine
        that is too busy: noted as a failover at some time since we last looked. Ours are the names that we have moved.
        What happens while we look happens after it."""
        asked = now_ns()
        holders = self._holders()
        moved = sum(1 << number for number, port in holders.items() if port != self._known[number]) & ~ours
        if moved:
            self.lost(self._since, now_ns(), LostBy.FAILOVER, moved)
        self._known, self._since = holders, asked

    def _some_master(self, dice: random.Random) -> tuple[str, int]:
        """The master of a name, three times in ten of the hot one; and the names it has."""
        self.look_back()
        number = 0 if dice.random() < 0.3 else dice.randrange(names.COUNT)
        owners = self._owners()
        port = owners.get(names.slot(number))
        if port is None:
            raise LabError(f"nobody has slot {names.slot(number)}")
        node = next(node for node, own in self.ports.items() if own == port)
        return node, names.bits({slot for slot, owner in owners.items() if owner == port})

    def victim(self, dice: random.Random) -> tuple[str, int]:
        return self._some_master(dice)

    def settled(self, node: str) -> None:
        self._settle()

    def keeper_of(self, number: int) -> str:
        return next(node for node, port in self.ports.items() if port == self._known[number])

    def _replica_of(self, node: str) -> str:
        """On a busy machine a master doubts its replica for a moment; so it is asked until it does not."""
        found: list[str] = []
        self.until(lambda: found or found.extend(self._living_replicas(node)), f"{node} has no replica")
        return found[0]

    def _living_replicas(self, node: str) -> list[str]:
        told = self.ask_node(node, "CLUSTER", "REPLICAS", self._ids[node])
        living = [line.split()[0] for line in told if "fail" not in line.split()[2]]
        return [other for other, identity in self._ids.items() if identity in living]

    def _replaced(self, node: str, bits: int) -> bool:
        owners = self._owners()
        first = next(number for number in range(names.COUNT) if bits >> number & 1)
        owner = owners.get(names.slot(first))
        return owner is not None and owner != self.ports[node] and self._is_master(owner)

    def _is_master(self, port: int) -> bool:
        node = next(node for node, own in self.ports.items() if own == port)
        role = self.try_node(node, "ROLE")
        return bool(role) and role[0] == "master"

    def _settle(self, ours: int = 0) -> None:
        engines("wait", self.id, "--seconds", "30")
        self.look_back(ours)

    # What may happen. Each gives back when all is well again.

    def leader_kill(self, dice: random.Random) -> None:
        victim, bits = self._some_master(dice)
        number = self.away_begins(bits)
        new_from = now_ns()
        engines("kill", self.id, victim)
        self.lost(new_from, self.history.add(Op.FAILOVER, names=bits), LostBy.FAILOVER, bits)
        self.until(lambda: self._replaced(victim, bits), f"{victim} was killed and not replaced")
        self.away_ends(number)
        engines("restart", self.id, victim)
        self._settle(bits)

    def planned_failover(self, dice: random.Random) -> None:
        """The master waits until its replica has everything: nothing may be lost. One whose replica is not ready writes nothing
        for five seconds, and is then asked once more."""
        old, bits = self._some_master(dice)
        new_from = now_ns()
        replica, asked = self._replica_of(old), 0.0

        def replaced() -> bool:
            nonlocal asked
            if self._replaced(old, bits):
                return True
            if time.monotonic() > asked + GIVEN_UP_S:
                self.try_node(replica, "CLUSTER", "FAILOVER")
                asked = time.monotonic()
            return False

        self.until(replaced, f"{old} was not replaced as planned")
        if now_ns() - new_from > PAUSED_S * 1e9:
            self.away_ends(self.away_begins(bits, new_from))
        self._ended_early(new_from, bits)
        self._settle(bits)

    def _ended_early(self, new_from: int, bits: int) -> None:
        """Leases that a server with another clock has taken over."""
        if self.shifted:
            self.lost(new_from, now_ns(), LostBy.FAILOVER, bits)

    def takeover(self, dice: random.Random) -> None:
        """The replica asks nobody."""
        old, bits = self._some_master(dice)
        new_from = now_ns()
        self.ask_node(self._replica_of(old), "CLUSTER", "FAILOVER", "TAKEOVER")
        self.until(lambda: self._demoted(old), f"{old} does not step down")
        self.lost(new_from, now_ns(), LostBy.FAILOVER, bits)
        self._settle(bits)

    def _demoted(self, node: str) -> bool:
        role = self.try_node(node, "ROLE")
        return bool(role) and role[0] == "slave"

    def partition(self, dice: random.Random) -> None:
        """No other node hears of a master, nor it of them; its clients reach it. Its replica waits for the vote of the
        others, or asks nobody: then there are two masters until the old one finds itself alone."""
        old, bits = self._some_master(dice)
        replica, at_once = self._replica_of(old), dice.random() < 0.5
        number = self.away_begins(bits)  # alone, it stops to serve
        new_from = now_ns()
        try:
            self._bus.cut_off(self._ids[old])
            with self.connect_to(self.ports[old]) as connection:
                connection.ask("ACL", "SETUSER", "default", "-psync")
                connection.ask("CLIENT", "KILL", "TYPE", "replica")
            if at_once:
                self.ask_node(replica, "CLUSTER", "FAILOVER", "TAKEOVER")
            self.until(lambda: self._replaced(old, bits), f"{old} was not replaced")
            self._lose_half_of_clients(old, dice)
            time.sleep(dice.uniform(0.3, 1.5))
        finally:
            self._bus.join()
            self.ask_node(old, "ACL", "SETUSER", "default", "+@all")
            self.ask_node(old, "CONFIG", "REWRITE")  # somebody may have written down the refusal
        self.until(lambda: self._demoted(old), f"{old} does not step down")
        self.lost(new_from, now_ns(), LostBy.FAILOVER, bits)
        self.away_ends(number)
        self._settle(bits)

    def _lose_half_of_clients(self, node: str, dice: random.Random) -> None:
        """Whoever loses a connection asks everybody where to go; the others go on."""
        with self.connect_to(self.ports[node]) as connection:
            listed = connection.ask("CLIENT", "LIST").splitlines()
            for line in dice.sample(listed, len(listed) // 2):
                connection.ask("CLIENT", "KILL", "ID", line.split()[0].removeprefix("id="), "SKIPME", "yes")

    def leader_pause(self, dice: random.Random) -> None:
        """SIGSTOP, now shorter and now longer than it takes to be replaced."""
        old, bits = self._some_master(dice)
        number = self.away_begins(bits)
        new_from = now_ns()
        engines("pause", self.id, old)
        stopped = now_ns()
        time.sleep(dice.choice((0.4, 3.0)))
        engines("resume", self.id, old)
        # What the others have begun, they carry through.
        deadline = time.monotonic() + REPLACED_S
        while not (replaced := self._replaced(old, bits)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.away_ends(number)
        if replaced:
            self.until(lambda: self._demoted(old), f"{old} does not step down")
            self.history.add(Op.FAILOVER, stopped, names=bits)
            self.lost(new_from, now_ns(), LostBy.FAILOVER, bits)
        self._settle(bits if replaced else 0)

    def migrate(self, dice: random.Random) -> None:
        """The slot of the hot name, and of another, each for a while between two masters."""
        self.look_back()
        numbers = (0, dice.randrange(1, names.COUNT))
        for number in numbers:
            slot = names.slot(number)
            owner = self._owners()[slot]
            target = dice.choice([port for port in self.masters() if port != owner])
            new_from = now_ns()
            engines("migrate", self.id, str(slot), str(target), "--seconds", f"{dice.uniform(0.1, 0.8):.2f}")
            self._ended_early(new_from, 1 << number)
        self._settle(sum(1 << number for number in numbers))

    def replica_kill(self, dice: random.Random) -> None:
        master, _ = self._some_master(dice)
        victim = self._replica_of(master)
        engines("kill", self.id, victim)
        time.sleep(dice.uniform(0.2, 1.0))
        engines("restart", self.id, victim)
        self._settle()
