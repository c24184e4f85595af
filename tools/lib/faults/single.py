"""One Redis server behind a proxy, and what may happen to it beside being killed."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from typing import TYPE_CHECKING

import resp
from faults.clock_jumps import ClockJumps
from faults.engine import Engine
from faults.history import Op, now_ns
from faults.key_loss import KeyLoss
from faults.refusals import Refusals

if TYPE_CHECKING:
    from faults.lab import Lab

PULSE_S = 0.02
SLOW_NS = 100_000_000
# Without a loss of data for so long, what the dead have left would be in the way for longer than `stuck` allows, of
# whichever name.
BEHIND_S = 12.0
JUMPS_S = (1.0, 60.0, 3600.0, 3600.0)


class Single(Refusals, KeyLoss, ClockJumps, Engine):
    @property
    def _node(self) -> str:
        return next(iter(self.ports))

    def victim(self, dice: random.Random) -> tuple[str, int]:
        return self._node, 0

    def keeper_of(self, number: int) -> str:
        return self._node

    def uris(self, lab: Lab) -> list[str]:
        over = threading.Event()
        pulse = threading.Thread(target=self._beat, args=(over,))
        pulse.start()
        lab.callback(pulse.join)
        lab.callback(over.set)
        return super().uris(lab)

    def _beat(self, over: threading.Event) -> None:
        """Notes when the server did not answer at once: it writes everything to a disk that others use too."""
        while not over.is_set():
            began = now_ns()
            with contextlib.suppress(OSError, resp.ReplyError), self.connect_to(self.port) as connection:
                while not over.wait(PULSE_S):
                    began = now_ns()
                    connection.ask("PING")
                    self._note_if_slow(began)
            self._note_if_slow(began)
            over.wait(PULSE_S)

    def _note_if_slow(self, began: int) -> None:
        if now_ns() - began > SLOW_NS:
            self.history.add(Op.HINDERED, began, until_ns=now_ns())

    # What may happen. Each gives back when all is well again.

    def clock_ahead(self, dice: random.Random) -> None:
        """Leases end early, which is noted as a loss; then the clock is put right, so what was granted meanwhile would
        last for an hour too long, were nobody to mind."""
        self._clock(dice, dice.choice(JUMPS_S))

    def clock_behind(self, dice: random.Random) -> None:
        """What the dead have left must not stay for as long as the clock was set back."""
        self._clock(dice, -dice.choice(JUMPS_S[1:]))

    def _clock(self, dice: random.Random, seconds: float) -> None:
        for shift in (seconds, 0.0):
            self.put_clock(shift)
            time.sleep(BEHIND_S if shift < 0 else dice.uniform(0.5, 1.5))
