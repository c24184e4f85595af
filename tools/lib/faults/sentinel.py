"""A master, its replicas and the sentinels, and what may happen to them."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from faults.children import LabError
from faults.engine import Servers, engines
from faults.history import LostBy, Op, now_ns

if TYPE_CHECKING:
    from faults.lab import Lab

MASTER_NAME = "mymaster"
SENTINELS = ("sentinel-0", "sentinel-1", "sentinel-2")
SERVERS = ("node-0", "node-1", "node-2")
AGREE_S_MAX = 20.0
FAILOVER_S = 2.0  # from the first doubt on, with some reserve


class Sentinel(Servers):
    """Half of the clients go through proxies to the sentinels: frozen, these clients are blind, and stay at a master
    that has been replaced. A partition needs no network: the master refuses to answer PING, so that the sentinels take
    it for dead, and refuses PSYNC, so that no replica follows it. Clients send neither."""

    def uris(self, lab: Lab) -> list[str]:
        self._blinds = [lab.make_proxy(name, self.ports[name], rules="") for name in SENTINELS]
        blinded = self.uri
        for name, proxy in zip(SENTINELS, self._blinds):
            blinded = blinded.replace(f":{self.ports[name]}", f":{proxy.port}")
        return [self.uri, blinded]

    def masters(self) -> list[int]:
        return [self.ports[self.master()]]

    def master(self) -> str:
        """Whom all sentinels name, and who says so himself."""
        deadline = time.monotonic() + AGREE_S_MAX
        while time.monotonic() < deadline:
            named = {tuple(self._named_by(name) or ()) for name in SENTINELS}
            node = next((node for node in SERVERS if named == {("127.0.0.1", str(self.ports[node]))}), None)
            role = node and self.try_node(node, "ROLE")
            if role and role[0] == "master":
                return node
            time.sleep(0.02)
        raise LabError("the sentinels have not agreed on a master")

    def _named_by(self, sentinel: str):
        return self.try_node(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME)

    def _new_master(self, old: str) -> str:
        deadline = time.monotonic() + AGREE_S_MAX
        while (master := self.master()) == old:
            if time.monotonic() > deadline:
                raise LabError(f"the sentinels have not replaced {old}")
            time.sleep(0.02)
        return master

    def _follow(self, node: str, master: str) -> None:
        """Sooner than the sentinels would: they wait ten seconds."""
        self.ask_node(node, "REPLICAOF", "127.0.0.1", str(self.ports[master]))

    def settle(self) -> None:
        """The replicas follow. What each sentinel thinks of each replica is not waited for: that takes ten seconds."""
        master = self.master()
        deadline = time.monotonic() + AGREE_S_MAX
        while not all(self._follows(node, master) for node in SERVERS if node != master):
            if time.monotonic() > deadline:
                raise LabError(f"not every replica follows {master}")
            time.sleep(0.02)

    def _follows(self, node: str, master: str) -> bool:
        role = self.try_node(node, "ROLE")
        return bool(role) and role[0] == "slave" and role[2] == self.ports[master] and role[3] == "connected"

    # What may happen. Each gives back when all is well again.

    def leader_kill(self, dice: random.Random) -> None:
        victim = self.master()
        number = self.away_begins()
        new_from = now_ns()
        engines("kill", self.id, victim)
        self.lost(new_from, self.history.add(Op.FAILOVER), LostBy.FAILOVER)
        master = self._new_master(victim)
        self.away_ends(number)
        engines("restart", self.id, victim)
        time.sleep(dice.uniform(0.0, 0.5))  # a second one that takes itself for the master
        self._follow(victim, master)
        self.settle()

    def planned_failover(self, dice: random.Random) -> None:
        old = self.master()
        new_from = now_ns()
        self.ask_node("sentinel-0", "SENTINEL", "FAILOVER", MASTER_NAME)
        master = self._new_master(old)
        time.sleep(dice.uniform(0.0, 1.0))
        self._follow(old, master)
        self.lost(new_from, now_ns(), LostBy.FAILOVER)
        self.settle()

    def partition(self, dice: random.Random) -> None:
        """Sentinels and replicas do not reach the master; its clients do, and half of them hear of no other."""
        old = self.master()
        new_from = now_ns()
        for blind in self._blinds:
            blind.order("freeze")
        try:
            with self.connect_to(self.ports[old]) as connection:
                connection.ask("ACL", "SETUSER", "default", "-ping", "-psync")
                connection.ask("CLIENT", "KILL", "TYPE", "replica")
            master = self._new_master(old)
            time.sleep(dice.uniform(0.5, 2.0))  # two masters, both with clients
            self._follow(old, master)
            self.lost(new_from, now_ns(), LostBy.FAILOVER)
        finally:
            for blind in self._blinds:
                blind.order("pass")
            self.ask_node(old, "ACL", "SETUSER", "default", "+@all")
        self.settle()

    def leader_pause(self, dice: random.Random) -> None:
        """SIGSTOP, now shorter and now longer than it takes to be replaced."""
        old = self.master()
        number = self.away_begins()
        stopped = now_ns()
        engines("pause", self.id, old)
        time.sleep(dice.choice((0.3, 2.5)))
        engines("resume", self.id, old)
        # What the sentinels have begun, they carry through.
        deadline = time.monotonic() + FAILOVER_S
        while (master := self.master()) == old and time.monotonic() < deadline:
            time.sleep(0.05)
        self.away_ends(number)
        if master != old:
            self._follow(old, master)
            self.history.add(Op.FAILOVER, stopped)
            self.lost(stopped, now_ns(), LostBy.FAILOVER)
        self.settle()

    def replica_kill(self, dice: random.Random) -> None:
        """Nobody should notice; a client that wants its grants confirmed by a replica has one left."""
        victim = dice.choice([node for node in SERVERS if node != self.master()])
        engines("kill", self.id, victim)
        time.sleep(dice.uniform(0.2, 1.0))
        engines("restart", self.id, victim)
        self.settle()

    def sentinel_kill(self, dice: random.Random) -> None:
        victim = dice.choice(SENTINELS)
        engines("kill", self.id, victim)
        time.sleep(dice.uniform(0.2, 1.0))
        engines("restart", self.id, victim)
        self.settle()
