"""A master, its replicas and the sentinels, and what may happen to them."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from faults.engine import engines
from faults.history import LostBy, Op, now_ns
from faults.key_loss import KeyLoss
from faults.refusals import Refusals

if TYPE_CHECKING:
    from faults.lab import Lab

MASTER_NAME = "mymaster"
SENTINELS = ("sentinel-0", "sentinel-1", "sentinel-2")
SERVERS = ("node-0", "node-1", "node-2")
FAILOVER_S = 2.0  # from the first doubt on, with some reserve
PAUSE_S = 3.0  # longer than it takes


class Sentinel(Refusals, KeyLoss):
    """Half of the clients go through proxies to the sentinels: frozen, these clients are blind, and stay at a master
    that has been replaced. A partition needs no network: the master refuses to answer PING, so that the sentinels take
    it for dead, and refuses PSYNC, so that no replica follows it. Clients send neither."""

    def uris(self, lab: Lab) -> list[str]:
        self._blinds = [lab.make_proxy(name, self.ports[name], rules="") for name in SENTINELS]
        blinded = self.uri
        for name, proxy in zip(SENTINELS, self._blinds):
            blinded = blinded.replace(f":{self.ports[name]}", f":{proxy.port}")
        self._known, self._since = self.master(), now_ns()
        return [self.uri, blinded]

    def masters(self) -> list[int]:
        return [self.ports[self.master()]]

    def master(self) -> str:
        """Whom all sentinels name, and who says so himself."""
        self.until(self._agreed, "the sentinels have not agreed on a master")
        return self._agreed() or self.master()

    def _agreed(self) -> str | None:
        ask = ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME)
        named = {tuple(self.try_node(name, *ask) or ()) for name in SENTINELS}
        node = next((node for node in SERVERS if named == {("127.0.0.1", str(self.ports[node]))}), None)
        role = node and self.try_node(node, "ROLE")
        return node if role and role[0] == "master" else None

    def _new_master(self, old: str) -> str:
        self.until(lambda: self.master() != old, f"the sentinels have not replaced {old}")
        return self.master()

    def _follow(self, node: str, master: str) -> None:
        """Sooner than the sentinels would: they wait ten seconds."""
        self.ask_node(node, "REPLICAOF", "127.0.0.1", str(self.ports[master]))
        self.ask_node(node, "CONFIG", "REWRITE")  # as they do, for the next start

    def _look(self) -> str:
        """The master. If it is not the one we know, the sentinels have replaced that one without being asked to, as
        they do on a machine that is too busy: noted as a failover at some time since we last looked."""
        master = self.master()
        if master != self._known:
            for node in SERVERS:
                if node != master:
                    self._follow(node, master)
            self.lost(self._since, now_ns(), LostBy.FAILOVER)
        self._known, self._since = master, now_ns()
        return master

    def _settle(self, expected: str) -> None:
        """The replicas follow. What each sentinel thinks of each replica is not waited for: that takes ten seconds."""
        self._known = expected
        self.until(lambda: self._all_follow(self._look()), "not all replicas follow the master")

    def _all_follow(self, master: str) -> bool:
        roles = [self.try_node(node, "ROLE") for node in SERVERS if node != master]
        wanted = ["slave", self.ports[master], "connected"]
        return all(role and [role[0], *role[2:4]] == wanted for role in roles)

    def look_back(self) -> None:
        self._look()

    def victim(self, dice: random.Random) -> tuple[str, int]:
        return self._look(), 0

    def settled(self, node: str) -> None:
        self._settle(node)

    def keeper_of(self, number: int) -> str:
        return self._known

    # What may happen. Each gives back when all is well again.

    def leader_kill(self, dice: random.Random) -> None:
        victim = self._look()
        number = self.away_begins()
        new_from = now_ns()
        engines("kill", self.id, victim)
        self.history.add(Op.FAILOVER)
        master = self._new_master(victim)
        self.away_ends(number)
        engines("restart", self.id, victim)
        time.sleep(dice.uniform(0.0, 0.5))  # a second one that takes itself for the master, for whoever comes by
        self._follow(victim, master)
        self.lost(new_from, now_ns(), LostBy.FAILOVER)
        self._settle(master)

    def planned_failover(self, dice: random.Random) -> None:
        old = self._look()
        new_from = now_ns()
        # Refused while the one before is not quite over, or no replica is known to be well.
        self.until(lambda: self.try_node("sentinel-0", "SENTINEL", "FAILOVER", MASTER_NAME), "no failover can begin")
        master = self._new_master(old)
        time.sleep(dice.uniform(0.0, 1.0))
        self._follow(old, master)
        self.lost(new_from, now_ns(), LostBy.FAILOVER)
        self._settle(master)

    def partition(self, dice: random.Random) -> None:
        """Sentinels and replicas do not reach the master; its clients do, and half of them hear of no other."""
        old = self._look()
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
            self.ask_node(old, "CONFIG", "REWRITE")  # somebody may have written down the refusals
        self._settle(master)

    def leader_pause(self, dice: random.Random) -> None:
        """SIGSTOP, now shorter and now longer than it takes to be replaced."""
        old = self._look()
        number = self.away_begins()
        new_from = now_ns()
        engines("pause", self.id, old)
        stopped = now_ns()
        time.sleep(dice.choice((0.3, PAUSE_S)))
        engines("resume", self.id, old)
        # What the sentinels have begun, they carry through.
        deadline = time.monotonic() + FAILOVER_S
        while (master := self.master()) == old and time.monotonic() < deadline:
            time.sleep(0.05)
        self.away_ends(number)
        if master != old:
            self._follow(old, master)
            self.history.add(Op.FAILOVER, stopped)
            self.lost(new_from, now_ns(), LostBy.FAILOVER)
        self._settle(master)

    def replica_kill(self, dice: random.Random) -> None:
        """Nobody should notice; a client that wants its grants confirmed by a replica has one left."""
        master = self._look()
        self._down_for_a_while(dice, dice.choice([node for node in SERVERS if node != master]))
        self._settle(master)

    def sentinel_kill(self, dice: random.Random) -> None:
        master = self._look()
        self._down_for_a_while(dice, dice.choice(SENTINELS))
        self._settle(master)

    def _down_for_a_while(self, dice: random.Random, victim: str) -> None:
        engines("kill", self.id, victim)
        time.sleep(dice.uniform(0.2, 1.0))
        engines("restart", self.id, victim)
