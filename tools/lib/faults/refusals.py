"""A Redis server that is there, answers, reads, and refuses every write: for as long as that is so, nothing that the
library says it has done may be believed unless it was done before."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterator

from faults.engine import Servers

# Shorter than a lease, and twice longer: what was renewed in vain is over by then.
LENGTHS_S = (0.4, 2.0, 2.5)
NOWHERE = ("127.0.0.1", "1")  # nobody listens there, so nothing is ever fetched from it, and no data lost
SAVED = "dump.rdb"


class Refusals(Servers):
    """Writes are an outage for those who wait. No two holds are excused by it."""

    def victim(self, dice: random.Random) -> tuple[str, int]:
        """A server that serves, and the names it has, as bits."""
        raise NotImplementedError

    def settled(self, node: str) -> None:
        """Waits until all is well again after something was done to the server."""

    # What may happen. Each gives back when all is well again.

    def oom(self, dice: random.Random) -> None:
        self._refuse(dice, self._setting("maxmemory", "1", "0"))

    def noreplicas(self, dice: random.Random) -> None:
        self._refuse(dice, self._setting("min-replicas-to-write", "3", "0"))

    def readonly(self, dice: random.Random) -> None:
        """Somebody has made it the replica of a server that is not there."""
        self._refuse(dice, self._follows_nobody)

    def misconf(self, dice: random.Random) -> None:
        """It could not write its snapshot, and takes no more until it can."""
        self._refuse(dice, self._cannot_save)

    def _refuse(self, dice: random.Random, what: Callable[[str], contextlib.AbstractContextManager]) -> None:
        node, names = self.victim(dice)
        number = self.away_begins(names)
        with what(node):
            time.sleep(dice.choice(LENGTHS_S))
        self.away_ends(number)
        self.ask_node(node, "CONFIG", "REWRITE")  # somebody may have written down how it was meanwhile
        self.settled(node)

    def _setting(self, key: str, value: str, usual: str) -> Callable[[str], contextlib.AbstractContextManager]:
        @contextlib.contextmanager
        def changed(node: str) -> Iterator[None]:
            self.ask_node(node, "CONFIG", "SET", key, value)
            try:
                yield
            finally:
                self.ask_node(node, "CONFIG", "SET", key, usual)

        return changed

    @contextlib.contextmanager
    def _follows_nobody(self, node: str) -> Iterator[None]:
        self.ask_node(node, "REPLICAOF", *NOWHERE)
        try:
            yield
        finally:
            self.ask_node(node, "REPLICAOF", "NO", "ONE")

    @contextlib.contextmanager
    def _cannot_save(self, node: str) -> Iterator[None]:
        folder = self.ask_node(node, "CONFIG", "GET", "dir")[1]
        with _in_the_place_of(os.path.join(folder, SAVED)):
            self.ask_node(node, "CONFIG", "SET", "save", "3600 1")
            self._ask_until(node, "err")
        try:
            yield
        finally:
            self._ask_until(node, "ok")
            self.ask_node(node, "CONFIG", "SET", "save", "")

    def _ask_until(self, node: str, status: str) -> None:
        """Saves until that is how it ends. Refused while another child of the server is at work."""

        def so() -> bool:
            self.try_node(node, "BGSAVE")
            return f"rdb_last_bgsave_status:{status}" in (self.try_node(node, "INFO", "persistence") or "")

        self.until(so, f"no snapshot of {node} ended with {status}")


@contextlib.contextmanager
def _in_the_place_of(path: str) -> Iterator[None]:
    """A folder, which no file can replace."""
    aside = path + ".aside"
    with contextlib.suppress(FileNotFoundError):
        os.rename(path, aside)
    os.mkdir(path)
    try:
        yield
    finally:
        os.rmdir(path)
        with contextlib.suppress(FileNotFoundError):
            os.rename(aside, path)
