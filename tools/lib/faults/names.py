"""The names of the workers, by number, and where a cluster has them."""

from __future__ import annotations

# As in tests/fault/worker/plan.hpp: those that are locked in turns, and behind them those that somebody keeps for as long
# as it can, four for each such process.
KEPT_FIRST = 24
KEPT_EACH = 4
HOLDERS = 2
KEPT = HOLDERS * KEPT_EACH
COUNT = KEPT_FIRST + KEPT  # the checker knows 64


def key(number: int) -> str:
    """In Redis: the state of the name; what else there is of it has a letter more."""
    return f"tyer:{{fault/{number}}}"


def slot(number: int) -> int:
    """The name is the whole hash tag of its keys."""
    crc = 0
    for byte in f"fault/{number}".encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc % 16384


def bits(slots: set[int]) -> int:
    """One bit for each name that lies in these slots."""
    return sum(1 << number for number in range(COUNT) if slot(number) in slots)
