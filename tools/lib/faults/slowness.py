"""Asks the servers again and again, and writes into the history when all of them were slow at once."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from faults.history import History, Op, now_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ASK_EVERY_S = 0.1
# A tenth of the ttl. A client that has left a silent server needs several answers before its next renewal stands.
SLOW_NS = 100_000_000
# Without a question that was answered at once, and with one that was not, for longer than this: all were slow.
GAP_NS = int(ASK_EVERY_S * 1e9) + SLOW_NS


class Gaps:
    """Questions in, each when it is answered; times in which none was answered at once out. No clock, no server."""

    def __init__(self, begin: int):
        self._well = begin  # when what was answered at once was asked last
        self._slow: int | None = None  # and the first since then that was not

    def heard(self, asked: int, answered: int, good: bool) -> tuple[int, int] | None:
        if not good or answered - asked > SLOW_NS:
            if asked > self._well:
                self._slow = min(asked, self._slow or asked)
            return None
        gap = self._until(asked)
        self._well = max(self._well, asked)
        if self._slow is not None and self._slow <= self._well:
            self._slow = None
        return gap

    def end(self, now: int) -> tuple[int, int] | None:
        return self._until(now)

    def _until(self, asked: int) -> tuple[int, int] | None:
        if self._slow is None or self._slow >= asked or asked - self._well <= GAP_NS:
            return None
        return self._slow, asked


class Slowness:
    """On a busy machine three servers that write to disk may take half a second for a request, whichever is asked. That is
    nothing a client could mend by going to another. One that is slow while another is not excuses nobody."""

    def __init__(self, history: History, nodes: Iterable[str], answers: Callable[[str], bool]):
        self._history, self._nodes, self._answers = history, list(nodes), answers
        self._asked: dict[str, Future[tuple[int, int, bool]]] = {}
        self._gaps = Gaps(now_ns())
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        with ThreadPoolExecutor(len(self._nodes)) as pool:
            while not self._ended.wait(ASK_EVERY_S):
                for node in self._nodes:
                    if node not in self._asked:
                        self._asked[node] = pool.submit(self._ask, node)
                self._hear(wait(self._asked.values(), SLOW_NS / 1e9, FIRST_COMPLETED).done)
            self._hear(wait(self._asked.values()).done)
            self._note(self._gaps.end(now_ns()))

    def _ask(self, node: str) -> tuple[int, int, bool]:
        asked = now_ns()
        good = self._answers(node)
        return asked, now_ns(), good

    def _hear(self, done: Iterable[Future[tuple[int, int, bool]]]) -> None:
        for answer in sorted(future.result() for future in done):
            self._note(self._gaps.heard(*answer))
        self._asked = {node: future for node, future in self._asked.items() if future not in done}

    def _note(self, gap: tuple[int, int] | None) -> None:
        if gap:
            self._history.add(Op.HINDERED, gap[0], until_ns=gap[1])
