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


class Slowness:
    """On a busy machine three servers that write to disk may take half a second for a request, whichever is asked. That is
    nothing a client could mend by going to another. One that is slow while another is not excuses nobody."""

    def __init__(self, history: History, nodes: Iterable[str], answers: Callable[[str], bool]):
        self._history, self._nodes, self._answers = history, list(nodes), answers
        self._asked: dict[str, Future[bool]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        with ThreadPoolExecutor(len(self._nodes)) as pool:
            while not self._ended.wait(ASK_EVERY_S):
                begun = now_ns()
                for node in self._nodes:
                    if node not in self._asked:
                        self._asked[node] = pool.submit(self._answers, node)
                self._wait_for_an_answer()
                if now_ns() - begun > SLOW_NS:
                    self._history.add(Op.HINDERED, begun, until_ns=now_ns())

    def _wait_for_an_answer(self) -> None:
        while self._asked:
            done = wait(self._asked.values(), return_when=FIRST_COMPLETED).done
            answered = any(future.result() for future in done)
            self._asked = {node: future for node, future in self._asked.items() if future not in done}
            if answered:
                return
