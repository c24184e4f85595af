"""Looks again and again whether there is a master that can grant, and writes into the history when there is none."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from faults.history import now_ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from faults.engine import Servers

LOOK_EVERY_S = 0.1
# Shorter ones are those that the lab causes, and the failovers after them.
WORTH_A_NOTE_S = 10.0


class Lookout:
    """Sentinels may be without a master for tens of seconds, by their own doing: one that they all name may call itself
    a replica. And where replicas have to confirm each grant, there may be too few of them. No client can lock then, so the
    engine is away, from when a master was last seen to when one is again; in a cluster, for the names of that master."""

    def __init__(self, servers: Servers, there_is_one: Callable[[], bool], names: Callable[[], int] = lambda: 0):
        self._servers, self._there_is_one, self._names = servers, there_is_one, names
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        seen, number = now_ns(), 0
        while not self._ended.wait(LOOK_EVERY_S):
            asked = now_ns()
            if self._there_is_one():
                if number:
                    self._servers.away_ends(number)
                    self._note((now_ns() - seen) / 1e9, "")
                seen, number = asked, 0
            elif not number:
                number = self._servers.away_begins(self._names(), seen)
        if number:
            self._servers.away_ends(number)
            self._note((now_ns() - seen) / 1e9, ", and had none at the end")

    def _note(self, seconds: float, more: str) -> None:
        if seconds >= WORTH_A_NOTE_S:
            when = time.strftime("%H:%M:%S")
            self._servers.notes.append(f"there was no master that could grant for {seconds:.1f} s, until {when}{more}")
