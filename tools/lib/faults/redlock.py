"""Five servers that know nothing of each other, and what may happen to them."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from faults.engine import Servers, engines
from faults.history import LostBy, Op, now_ns

if TYPE_CHECKING:
    from faults.lab import Lab

DATA_AND_TOKENS = LostBy.FAILOVER | LostBy.TOKENS_TOO


class Redlock(Servers):
    """A proxy before each. A server that forgets, or whose clock jumps, gives the third vote to a second holder whose
    first one had only three: out of the promise, so such pairs are counted as double grants."""

    def uris(self, lab: Lab) -> list[str]:
        self._proxies = {node: lab.make_proxy(node, port, rules="") for node, port in self.ports.items()}
        uri = self.uri
        for node, proxy in self._proxies.items():
            uri = uri.replace(f":{self.ports[node]}", f":{proxy.port}")
        return [uri]

    def masters(self) -> list[int]:
        return list(self.ports.values())

    def start(self, what: Callable[[], None]) -> bool:
        """Whatever it is, a hold may have a vote less, until a renewal has won it back."""

        def noted() -> None:
            begin = now_ns()
            what()
            self.history.add(Op.HINDERED, begin, until_ns=now_ns(), how=1)

        return super().start(noted)

    @contextlib.contextmanager
    def _of_two(self) -> Iterator[None]:
        """Three are left, which is enough for a hold only if it has all of their votes."""
        begin = now_ns()
        yield
        self.history.add(Op.HINDERED, begin, until_ns=now_ns())

    def _some(self, dice: random.Random, count: int) -> list[str]:
        return dice.sample(sorted(self.ports), count)

    def _restart(self, dice: random.Random, count: int, *options: str) -> tuple[int, int]:
        """Gives back before when the old state was gone, and when the new one began."""
        victims = self._some(dice, count)
        engines("kill", self.id, *victims)
        old_until = now_ns()
        time.sleep(dice.uniform(0.0, 1.5))
        new_from = now_ns()
        engines("restart", self.id, *victims, *options)
        return old_until, new_from

    # What may happen. Each gives back when all is well again.

    def one_dead(self, dice: random.Random) -> None:
        self._restart(dice, 1)

    def two_dead(self, dice: random.Random) -> None:
        with self._of_two():
            self._restart(dice, 2)

    def three_dead(self, dice: random.Random) -> None:
        """No majority: nobody gets anything, and everybody goes on afterwards."""
        number = self.away_begins()
        self._restart(dice, 3)
        self.away_ends(number)

    def one_without_data(self, dice: random.Random) -> None:
        old_until, new_from = self._restart(dice, 1, "--lose-data")
        self.lost(new_from, old_until, DATA_AND_TOKENS)

    def one_paused(self, dice: random.Random) -> None:
        victim = self._some(dice, 1)[0]
        engines("pause", self.id, victim)
        time.sleep(dice.uniform(0.3, 2.0))
        engines("resume", self.id, victim)

    def clock_ahead(self, dice: random.Random) -> None:
        """What it holds ends a second too early."""
        self._clock(dice, 1.0)

    def clock_behind(self, dice: random.Random) -> None:
        """What it holds ends a second too late; and too early, when the clock is put right."""
        self._clock(dice, -1.0)

    def _clock(self, dice: random.Random, seconds: float) -> None:
        victim = self._some(dice, 1)[0]
        before = 0.0
        for shift in (seconds, 0.0):
            new_from = now_ns()
            engines("clock", self.id, victim, f"{shift:g}")
            if shift > before:
                self.lost(new_from, now_ns(), LostBy.FAILOVER)
            before = shift
            time.sleep(dice.uniform(0.3, 1.0))

    def slow_one(self, dice: random.Random) -> None:
        self._slow(dice, 1)

    def slow_two(self, dice: random.Random) -> None:
        with self._of_two():
            self._slow(dice, 2)

    def _slow(self, dice: random.Random, count: int) -> None:
        victims = [self._proxies[node] for node in self._some(dice, count)]
        for proxy in victims:
            proxy.order(f"delay {dice.randint(10, 300)} {dice.randint(0, 100)}")
        time.sleep(dice.uniform(0.5, 1.5))
        for proxy in victims:
            proxy.order("delay 0")

    def mute_two(self, dice: random.Random) -> None:
        """What they were sent arrives later."""
        victims = [self._proxies[node] for node in self._some(dice, 2)]
        with self._of_two():
            for proxy in victims:
                proxy.order("freeze")
            time.sleep(dice.uniform(0.3, 1.5))
            for proxy in victims:
                proxy.order("pass")
