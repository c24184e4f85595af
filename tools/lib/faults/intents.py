"""Which servers are down because the lab wanted it so: nobody has to wonder at their end."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Commands of tools/engines that end servers, or may do so on their way.
_ENDING = frozenset({"kill", "restart", "replace", "failover", "down"})
_STOPPING = frozenset({"kill", "down"})
_STARTING = frozenset({"restart", "replace"})


class Intents:
    """Of each instance. Safe to use from several threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._down: dict[str, set[str]] = {}
        self._under_way: dict[str, int] = {}
        self._count: dict[str, int] = {}

    @contextlib.contextmanager
    def during(self, words: tuple[str, ...]) -> Iterator[None]:
        """While such a command is under way, no end of any server of the instance is a surprise."""
        if words[0] not in _ENDING:
            yield
            return
        command, which, *members = words
        members = [word for word in members if not word.startswith("-")]
        with self._lock:
            self._under_way[which] = self._under_way.get(which, 0) + 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[which] -= 1
                self._count[which] = self._count.get(which, 0) + 1
                down = self._down.setdefault(which, set())
                if command in _STARTING:
                    down.difference_update(members or set(down))
                elif command in _STOPPING:
                    down.update(members or {""})

    def count(self, which: str) -> int | None:
        """How many such commands there have been; None if one is under way."""
        with self._lock:
            return None if self._under_way.get(which) else self._count.get(which, 0)

    def has_ended(self, which: str, member: str) -> bool:
        with self._lock:
            return bool(self._down.get(which, set()) & {"", member})
