"""Writes the same histories as tests/fault/history: what was done to whom, and exactly when."""

from __future__ import annotations

import enum
import mmap
import struct
import threading
import time

_HEADER = struct.Struct("<8sIIQQ32x")
_EVENT = struct.Struct("<qqQQIHHBB4xH")
_MAGIC, _VERSION = b"TYERHIST", 3
_CAPACITY = 1 << 16


class Op(enum.IntEnum):
    """As in tests/fault/history/event.hpp."""

    STOP = 9
    CONT = 10
    KILL = 11
    AWAY_BEGIN = 12
    AWAY_END = 13
    DATA_LOSS = 14
    FAULT = 15
    FINISH = 16
    FAILOVER = 21
    LEASES_ANEW = 22
    HINDERED = 23


class LostBy(enum.IntFlag):
    """As there: what a loss of data is to be counted as."""

    NOTHING_SPECIAL = 0
    FAILOVER = 1
    TOKENS_TOO = 2
    PLACES = 4


def now_ns() -> int:
    """The one clock of the lab, the same that leases are counted on."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class History:
    """Append-only, mapped into memory; safe to use from several threads."""

    def __init__(self, path: str):
        with open(path, "x+b") as file:
            file.truncate(_HEADER.size + _CAPACITY * _EVENT.size)
            self._map = mmap.mmap(file.fileno(), 0)
        self._count = 0
        self._lock = threading.Lock()
        self._put_header()

    def add(
        self,
        op: Op,
        t_ns: int | None = None,
        pid: int = 0,
        until_ns: int = 0,
        number: int = 0,
        names: int = 0,
        how: int = 0,
    ) -> int:
        """Writes a line, by default for this moment; gives back its time. Names: one bit for each, 0 for all."""
        t_ns = now_ns() if t_ns is None else t_ns
        with self._lock:
            if self._count == _CAPACITY:
                raise RuntimeError("the history of the faults is full")
            at = _HEADER.size + self._count * _EVENT.size
            _EVENT.pack_into(self._map, at, t_ns, until_ns, names, number, pid, 0, 0, op, how, 0)
            self._count += 1
            self._put_header()
        return t_ns

    def _put_header(self) -> None:
        _HEADER.pack_into(self._map, 0, _MAGIC, _VERSION, _EVENT.size, _CAPACITY, self._count)
