"""One Redis server behind a proxy, and what may happen to it beside being killed."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from typing import TYPE_CHECKING

import resp
from faults.engine import Engine, engines
from faults.history import LostBy, Op, now_ns
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


class Single(Refusals, KeyLoss, Engine):
    _shift_ns = 0  # of the server's clock against the lab's
    _shown_ns = 0  # in the lab's time, the latest that the server's clock has ever shown

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._forgotten: list[tuple[int, int, LostBy, int, int]] = []  # while the clock showed more than ever before

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
        before = 0.0
        for shift in (seconds, 0.0):
            new_from = now_ns()
            engines("clock", self.id, self._node, f"{shift:g}")
            self._shown_ns = max(self._shown_ns, now_ns() + self._shift_ns)
            self._shift_ns = int(shift * 1e9)
            if shift > before:
                self.lost(new_from, now_ns())
            else:
                self._lost_tokens_too()
            before = shift
            time.sleep(BEHIND_S if shift < 0 else dice.uniform(0.5, 1.5))

    def lost(
        self, new_from: int, old_until: int, how: LostBy = LostBy.NOTHING_SPECIAL, names: int = 0, pid: int = 0
    ) -> None:
        """Tokens are made of the time, and larger than the last one: if that is forgotten while the clock is behind what
        it has shown before, they run backwards."""
        if now_ns() + self._shift_ns < self._shown_ns:
            how |= LostBy.TOKENS_TOO
        else:
            self._forgotten.append((new_from, old_until, how, names, pid))
        super().lost(new_from, old_until, how, names, pid)

    def _lost_tokens_too(self) -> None:
        """The clock was set back. A name that was forgotten before that, and not given to anybody since, has its next token
        from a time that is behind."""
        forgotten, self._forgotten = self._forgotten, []
        for new_from, old_until, how, names, pid in forgotten:
            super().lost(new_from, old_until, how | LostBy.TOKENS_TOO, names, pid)
