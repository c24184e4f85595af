"""What lies at a Redis server when nobody holds anything any more: tombstones, and nothing else."""

from __future__ import annotations

import time

import resp


class Leftovers:
    def __init__(self, connection: resp.Connection, prefix: str, show: str):
        self._connection = connection
        self._prefix = prefix
        self._show = show  # the script that lists holders and waiters: it knows the layout, we do not

    def wait(self, seconds: float) -> list[str]:
        """Waits for as long as a lease can still run; gives back what should not be there."""
        deadline = time.monotonic() + seconds
        while True:
            wrong = [words for key in self._keys() if (words := self._what_is_wrong(key))]
            if not wrong or time.monotonic() > deadline:
                return wrong
            time.sleep(0.1)

    def _keys(self) -> list[str]:
        cursor, found = "0", set()
        while True:
            cursor, page = self._connection.ask("SCAN", cursor, "COUNT", "1000")
            found.update(page)
            if cursor == "0":
                return sorted(found)

    def _what_is_wrong(self, key: str) -> str | None:
        """None for a tombstone: the string prefix{name} in our format, with a TTL, without holder and waiters."""
        ask = self._connection.ask
        kind, left_ms = ask("TYPE", key), ask("PTTL", key)
        if kind == "none" or left_ms == -2:
            return None  # it went while we looked
        if left_ms == -1:
            return f"{key}: {kind} without a TTL"
        if kind != "string" or not key.startswith(self._prefix + "{") or not key.endswith("}"):
            return f"{key}: {kind}, expires in {left_ms} ms"
        if ask("GETRANGE", key, "0", "1") != "T1":
            return f"{key}: not in our format"
        shown = ask("EVAL", self._show, "1", key, "10")
        return f"{key}: not free, {shown[0]} for another {shown[3]} ms" if shown else None
