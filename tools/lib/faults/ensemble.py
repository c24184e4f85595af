"""Servers that are one and elect who leads them, and what may happen to any such."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from typing import TYPE_CHECKING

from faults.engine import Servers, engines, intents
from faults.history import Op
from faults.slowness import Slowness
from faults.some_proxy import SomeProxy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.lab import Lab
    from faults.proxy import Proxy

QUICK_S = 0.5  # for what the timeline must not wait for
# A command of which nobody has heard may still be done when the servers have found together again.
AT_LAST_S = 15.0
LOOK_EVERY_S = 0.1
SETTLED_S_MAX = 60.0


class Ensemble(Servers):
    """Clients go through proxies, each half of them through its own; and each begins with another server. So do servers that
    talk to each other."""

    scheme: str  # of the URI
    speaks: str  # what the clients' proxies understand
    unheard_s: float  # without a word from the leader, before others want another
    pause_short: tuple[float, float]  # of that: a leader stands still, and is borne with
    alone_s: tuple[float, float]  # a follower is cut off

    def uris(self, lab: Lab) -> list[str]:
        self._lead_peers_through_proxies(lab)
        self._halves = [
            {node: lab.make_proxy(f"{node}-{half}", port, rules="", speaks=self.speaks) for node, port in self.ports.items()}
            for half in ("these", "those")
        ]
        lab.proxy = SomeProxy(len(self.ports), [proxy for half in self._halves for proxy in half.values()])
        self._start_watching()
        lab.callback(self._stop_watching)
        lab.callback(Slowness(self.history, self.ports, self._serves).end)
        uris = []
        for start in range(len(self.ports)):
            for half in self._halves:
                ports = [proxy.port for proxy in half.values()]
                uris.append(f"{self.scheme}://" + ",".join(f"127.0.0.1:{port}" for port in ports[start:] + ports[:start]))
        return uris

    # --- what is asked of each kind of servers ---

    def _lead_peers_through_proxies(self, lab: Lab) -> None:
        """From the very beginning, without any data."""
        raise NotImplementedError

    def _cut_off(self, node: str, dice: random.Random) -> contextlib.AbstractContextManager[None]:
        """From the other servers, not from clients."""
        raise NotImplementedError

    def _leader(self) -> str | None:
        """The one that others follow, too; None if that is not so just now."""
        raise NotImplementedError

    def _era(self) -> int | None:
        """Grows with every leader."""
        raise NotImplementedError

    def _writes_at(self, node: str) -> bool:
        """Whether it gets something written just now."""
        raise NotImplementedError

    def _serves(self, node: str) -> bool:
        """Whether it gives an answer that a majority stands behind."""
        raise NotImplementedError

    # --- who leads ---

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

    def _writes(self) -> bool:
        leader = self._leader()
        return leader is not None and self._writes_at(leader)

    def _settle(self) -> None:
        """All follow one, and it gets things written."""
        engines("wait", self.id, "--seconds", f"{SETTLED_S_MAX:g}")
        self.until(self._writes, "nothing can be written")

    def is_well(self, node: str) -> bool:
        return self._writes() and self._writes_at(node)

    def all_well_again(self) -> None:
        engines("resume", self.id)
        for node in sorted(self.ports):
            if intents.has_ended(self.id, node):
                engines("restart", self.id, node)
        self._settle()

    def _wait_for_another(self, old: str) -> None:
        self.until(lambda: (self._leader() or old) != old and self._writes(), f"{old} was not replaced")

    @contextlib.contextmanager
    def _away(self) -> Iterator[None]:
        number = self.away_begins()
        yield
        self.away_ends(number)

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
            era = self._era()
            if era is not None and era != known:
                if known is not None:
                    self.history.add(Op.LEASES_ANEW)
                known = era

    # --- what may happen. Each gives back when all is well again ---

    def leader_kill(self, dice: random.Random) -> None:
        old = self._some_leader()
        self._kill_leader(old)
        time.sleep(dice.uniform(0.0, 0.5))
        engines("restart", self.id, old)
        self._settle()

    def _kill_leader(self, old: str) -> None:
        with self._away():
            engines("kill", self.id, old)
            self.history.add(Op.FAILOVER)
            self._wait_for_another(old)

    def follower_kill(self, dice: random.Random) -> None:
        victim = self._some_follower(dice)
        engines("kill", self.id, victim)
        time.sleep(dice.uniform(0.2, 1.0))
        engines("restart", self.id, victim)
        self._settle()

    def follower_pause(self, dice: random.Random) -> None:
        """SIGSTOP: it refuses nothing and says nothing, and the majority goes on. Whoever talks to it has to leave it, also
        if it only holds or only waits."""
        victim = self._some_follower(dice)
        engines("pause", self.id, victim)
        time.sleep(dice.uniform(0.5, 5.0))
        engines("resume", self.id, victim)
        self._settle()

    def leader_pause_short(self, dice: random.Random) -> None:
        """SIGSTOP, and back before anybody minds (but for a busy machine). What waited for it is carried out then, also for
        whom it takes for gone right after."""
        old = self._some_leader()
        with self._away():
            engines("pause", self.id, old)
            time.sleep(dice.uniform(*self.pause_short) * self.unheard_s)
            engines("resume", self.id, old)
            self._settle()

    def leader_pause_long(self, dice: random.Random) -> None:
        """When it goes on, it takes itself for the leader until it hears of the other."""
        old = self._some_leader()
        with self._away():
            engines("pause", self.id, old)
            self.history.add(Op.FAILOVER)
            self._wait_for_another(old)
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
        """Whoever talks to it has to find out that it is in a minority."""
        with self._cut_off(self._some_follower(dice), dice):
            time.sleep(dice.uniform(*self.alone_s))
        self._settle()

    def clients_without_one(self, dice: random.Random) -> None:
        node = dice.choice(sorted(self.ports))
        self._without(dice, [half[node] for half in self._halves])

    def clients_without_all(self, dice: random.Random) -> None:
        """Half of the clients; the others go on."""
        with self._away():
            self._without(dice, list(dice.choice(self._halves).values()))

    def _without(self, dice: random.Random, proxies: list[Proxy]) -> None:
        """Refused, or without an answer."""
        order = dice.choice(("cut", "freeze"))
        for proxy in proxies:
            proxy.order(order)
        time.sleep(dice.uniform(0.3, 2.0))
        for proxy in proxies:
            proxy.order("pass")
