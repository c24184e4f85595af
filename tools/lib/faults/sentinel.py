"""A master, its replicas and the sentinels, and what may happen to them."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from faults.engine import engines
from faults.history import LostBy, Op, now_ns
from faults.key_loss import KeyLoss
from faults.lookout import Lookout
from faults.refusals import Refusals

if TYPE_CHECKING:
    from faults.lab import Lab

MASTER_NAME = "mymaster"
SENTINELS = ("sentinel-0", "sentinel-1", "sentinel-2")
SERVERS = ("node-0", "node-1", "node-2")
FAILOVER_S = 2.0  # from the first doubt on, with some reserve
PAUSE_S = 3.0  # longer than it takes
# Without a good replica they do not replace a master; with one, they do within seconds, or try again after four.
REPLACED_S_MAX = 20.0
# Sentinels wait for half a minute before they replace a master that calls itself a replica, and for ten seconds and more
# before they put a replica right; one may come after the other.
SETTLED_S_MAX = 120.0
ASK_AGAIN_S = 6.0  # for a failover that has come to nothing
LEARNED_S = 3.0  # everybody who asks the sentinels knows of a new master: they ask every second, and are told


class Sentinel(Refusals, KeyLoss):
    """Half of the clients go through proxies to the sentinels: frozen, these clients are blind, and stay at a master
    that has been replaced. A partition needs no network: the master refuses to answer PING, so that the sentinels take
    it for dead, and refuses PSYNC, so that no replica follows it. Clients send neither."""

    keeps_all = False

    def uris(self, lab: Lab) -> list[str]:
        self._blinds = [lab.make_proxy(name, self.ports[name], rules="") for name in SENTINELS]
        blinded = self.uri
        for name, proxy in zip(SENTINELS, self._blinds):
            blinded = blinded.replace(f":{self.ports[name]}", f":{proxy.port}")
        self._seen: dict[str, int] = {}  # by node, the epoch in which all sentinels named it
        self._since = now_ns()
        self._known = self._named(self.master())
        self._lookout = Lookout(self, self._is_there)
        lab.callback(self._lookout.end)
        return [self.uri, blinded]

    def masters(self) -> list[int]:
        return [self.ports[self._sighted()[1]]]  # by another thread: what it sees is not what the schedule has seen

    def master(self) -> str:
        """Whom all sentinels name, and who says so himself."""
        epoch, node = self._sighted()
        self._seen[node] = epoch
        return node

    def _sighted(self) -> tuple[int, str]:
        found: list[tuple[int, str]] = []

        def look() -> bool:
            if sighted := self._agreed_on():
                found.append(sighted)
            return bool(found)

        self.until(look, "the sentinels have not agreed on a master", SETTLED_S_MAX)
        return found[0]

    def _named(self, node: str) -> tuple[int, str]:
        return self._seen[node], node

    def _named_by(self, sentinel: str) -> tuple[int, str | None]:
        """The epoch, and who goes with it: asked for in this order, so that it can only be too new for the epoch."""
        epoch = self._view(sentinel).get("config-epoch", "-1")
        address = self.try_node(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME) or (None, "0")
        return int(epoch), next((node for node in SERVERS if self.ports[node] == int(address[1])), None)

    def _view(self, sentinel: str) -> dict[str, str]:
        told = self.try_node(sentinel, "SENTINEL", "MASTER", MASTER_NAME) or []
        return dict(zip(told[::2], told[1::2]))

    def _agreed(self) -> str | None:
        sighted = self._agreed_on()
        return sighted and sighted[1]

    def _agreed_on(self) -> tuple[int, str] | None:
        """Also on the epoch, which each of them changes together with the name."""
        named = {self._named_by(name) for name in SENTINELS}
        epoch, node = named.pop() if len(named) == 1 else (0, None)
        return (epoch, node) if node and self._calls_itself_master(node) else None

    def _is_there(self) -> bool:
        """Whether there is a server for clients to go to: named by the sentinel with the latest news, and able to grant."""
        node = max((self._named_by(name) for name in SENTINELS), key=lambda named: named[0])[1]
        return node is not None and self.can_grant(node)

    def _calls_itself_master(self, node: str) -> bool:
        role = self.try_node(node, "ROLE", seconds=1.0)
        return bool(role) and role[0] == "master"

    def state(self) -> str:
        views = {name: self._view(name) for name in SENTINELS}
        wanted = ("port", "config-epoch", "flags", "failover-state")
        told = [f"{name}: {' '.join(view.get(key, '') for key in wanted)}" for name, view in views.items()]
        roles = {node: self.try_node(node, "ROLE") or ["no answer"] for node in SERVERS}
        told += [f"{node} ({self.ports[node]}): {' '.join(map(str, role[:4]))}" for node, role in roles.items()]
        return "; " + "; ".join(told)

    def _new_master(self, old: str) -> str:
        self.until(lambda: (self._agreed() or old) != old, f"the sentinels have not replaced {old}", SETTLED_S_MAX)
        return self.master()

    def _replaced(self, old: str) -> bool:
        """False: they cannot, while it is away."""
        deadline = time.monotonic() + REPLACED_S_MAX
        while (self._agreed() or old) == old:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def _follow(self, node: str, master: str) -> None:
        """Sooner than the sentinels would: they wait ten seconds."""
        self.ask_node(node, "REPLICAOF", "127.0.0.1", str(self.ports[master]))
        self.ask_node(node, "CONFIG", "REWRITE")  # as they do, for the next start

    def _look(self) -> str:
        """The master. If it is not the one we know, or is so anew, the sentinels have replaced that one without being
        asked to, as they do on a machine that is too busy: noted as a failover at some time since we last looked. What
        happens while we look happens after it."""
        asked = now_ns()
        master = self.master()
        if self._named(master) != self._known:
            for node in SERVERS:
                if node != master:
                    self._follow(node, master)
            self.lost(self._since, now_ns(), LostBy.FAILOVER)
        self._known, self._since = self._named(master), asked
        return master

    def _settle(self, expected: str) -> None:
        """The replicas follow. What each sentinel thinks of each replica is not waited for: that takes ten seconds."""
        self._known = self._named(expected)
        self.until(lambda: self._all_follow(self._look()), "not all replicas follow the master", SETTLED_S_MAX)

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
        return self._known[1]

    # What may happen. Each gives back when all is well again.

    def leader_kill(self, dice: random.Random) -> None:
        victim = self._look()
        number = self.away_begins()
        new_from = now_ns()
        engines("kill", self.id, victim)
        self.history.add(Op.FAILOVER)
        if replaced := self._replaced(victim):
            self.away_ends(number)
        else:
            self.notes.append(f"the sentinels could not replace {victim} while it was dead{self.state()}")
        engines("restart", self.id, victim)
        if replaced:
            time.sleep(dice.uniform(0.0, 0.5))  # a second one that takes itself for the master, for whoever comes by
        master = self.master()
        if not replaced:
            self.away_ends(number)
        if master != victim:
            self._follow(victim, master)
        self.lost(new_from, now_ns(), LostBy.FAILOVER)
        self._settle(master)

    def planned_failover(self, dice: random.Random) -> None:
        old = self._look()
        new_from = now_ns()
        master = self._fail_over(old, "sentinel-0")
        time.sleep(dice.uniform(0.0, 1.0))
        self._follow(old, master)
        self.lost(new_from, now_ns(), LostBy.FAILOVER)
        self._settle(master)

    def _fail_over(self, old: str, leader: str) -> str:
        """By order. Refused while the one before is not quite over, or no replica is known to be well; and given up by
        the sentinel if it does not hear in time that the replica has become master."""

        def order() -> bool:
            return self._agreed() == old and bool(self.try_node(leader, "SENTINEL", "FAILOVER", MASTER_NAME))

        return self._until_replaced(old, order, time.monotonic())

    def _until_replaced(self, old: str, order: Callable[[], bool], ordered_at: float) -> str:
        """With an order that is given again, should nothing come of it."""

        def is_done() -> bool:
            nonlocal ordered_at
            if (self._agreed() or old) != old:
                return True
            if time.monotonic() > ordered_at and (self._promote_again() or order()):
                ordered_at = time.monotonic() + ASK_AGAIN_S
            return False

        self.until(is_done, f"the sentinels have not replaced {old}", SETTLED_S_MAX)
        return self.master()

    def _promote_again(self) -> bool:
        """A sentinel tells a replica once that it is to be the master, and waits for that for as long as its
        failover-timeout. If the lab's own CLIENT KILL has cut it off in that moment, the lab says it again."""
        for name in SENTINELS:
            if self._view(name).get("failover-state") == "wait_promotion":
                for told in self.try_node(name, "SENTINEL", "REPLICAS", MASTER_NAME) or []:
                    replica = dict(zip(told[::2], told[1::2]))
                    if "promoted" in replica["flags"]:
                        node = next(node for node in SERVERS if str(self.ports[node]) == replica["port"])
                        return bool(self.try_node(node, "REPLICAOF", "NO", "ONE"))
        return False

    def partition(self, dice: random.Random) -> None:
        """Sentinels and replicas do not reach the master; its clients do, and half of them hear of no other."""
        old = self._look()
        new_from = now_ns()
        for blind in self._blinds:
            blind.order("freeze")
        try:
            self.ask_node(old, "ACL", "SETUSER", "default", "-ping", "-psync")
            self.ask_node(old, "CLIENT", "KILL", "TYPE", "replica")
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

    def slow_failover(self, dice: random.Random) -> None:
        """By order, with a replica that cannot follow the new master: the sentinel that leads it waits for that one for
        as long as its failover-timeout, and the others know the new master long before. The old one stays a master, and
        answers; but everybody knows better soon, so what it grants after that is not excused."""
        old = self._look()
        new_from = now_ns()
        with self._nobody_can_follow():
            master = self._fail_over(old, dice.choice(SENTINELS))
            time.sleep(LEARNED_S)
            self.lost(new_from, now_ns(), LostBy.FAILOVER)
            time.sleep(dice.uniform(2.0, 5.0))
            self._follow(old, master)
        self._settle(master)
        self._end_of_failover()

    def slow_kill(self, dice: random.Random) -> None:
        """The same after the death of the master, which comes back after a while and takes itself for one."""
        old = self._look()
        number = self.away_begins()
        new_from = now_ns()
        with self._nobody_can_follow():
            engines("kill", self.id, old)
            self.history.add(Op.FAILOVER)
            master = self._until_replaced(old, lambda: False, time.monotonic() + ASK_AGAIN_S)
            self.away_ends(number)
            time.sleep(LEARNED_S)
            self.lost(new_from, now_ns(), LostBy.FAILOVER)
            engines("restart", self.id, old)
            time.sleep(dice.uniform(1.0, 3.0))
            self._follow(old, master)
        self._settle(master)
        self._end_of_failover()

    @contextlib.contextmanager
    def _nobody_can_follow(self) -> Iterator[None]:
        """Who follows already goes on."""
        for node in SERVERS:
            self.ask_node(node, "CONFIG", "SET", "masterauth", "wrong")
        try:
            yield
        finally:
            for node in SERVERS:
                self.ask_node(node, "CONFIG", "SET", "masterauth", "")
                self.ask_node(node, "CONFIG", "REWRITE")  # somebody may have written it down

    def _end_of_failover(self) -> None:
        """The next one is refused before."""
        self.until(
            lambda: all(view and "failover_in_progress" not in view["flags"] for view in map(self._view, SENTINELS)),
            "a failover has not come to its end",
            SETTLED_S_MAX,
        )

    def replica_kill(self, dice: random.Random) -> None:
        """Nobody should notice, but those who want their grants confirmed by all replicas."""
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
