"""A server whose wall clock can be moved, and what that means for tokens that are made of its time."""

from __future__ import annotations

from faults.engine import OneServer, engines
from faults.history import LostBy, now_ns


class ClockJumps(OneServer):
    _shift_ns = 0  # of the server's clock against the lab's
    _shown_ns = 0  # in the lab's time, the latest that the server's clock has ever shown

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._forgotten: list[tuple[int, int, LostBy, int, int]] = []  # while the clock showed more than ever before

    def put_clock(self, seconds: float) -> None:
        """This far ahead of the lab's. Forwards, leases end early, which is noted as a loss."""
        new_from, before = now_ns(), self._shift_ns
        engines("clock", self.id, next(iter(self.ports)), f"{seconds:g}")
        self._shown_ns = max(self._shown_ns, now_ns() + self._shift_ns)
        self._shift_ns = int(seconds * 1e9)
        if self._shift_ns > before:
            self.lost(new_from, now_ns())
        else:
            self._lost_tokens_too()

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
