"""What happens when: a queue of moments, worked off by the main thread."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable


class Timeline:
    """Times are seconds since the start. Everything on it must be quick: it all shares one thread."""

    def __init__(self):
        self._start = time.monotonic()
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._undo: dict[int, Callable[[], None]] = {}
        self._numbers = itertools.count()  # first in, first out among equals

    def now(self) -> float:
        return time.monotonic() - self._start

    def at(self, when: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (when, next(self._numbers), what))

    def undo_after(self, seconds: float, what: Callable[[], None]) -> None:
        """The end of something that has begun: happens even if the run is over before."""
        number = next(self._numbers)
        self._undo[number] = what
        self.at(self.now() + seconds, lambda: self._undo.pop(number)())

    def run(self, until: float) -> None:
        """Does what is due. At the end nothing is left half done, and what was to come later is forgotten."""
        while self._queue and self._queue[0][0] <= until:
            when, _, what = heapq.heappop(self._queue)
            time.sleep(max(0.0, when - self.now()))
            what()
        time.sleep(max(0.0, until - self.now()))
        self._queue.clear()
        while self._undo:
            self._undo.pop(next(iter(self._undo)))()
