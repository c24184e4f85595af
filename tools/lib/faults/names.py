"""The names of the workers, by number, and where a cluster has them."""

from __future__ import annotations

COUNT = 16  # of the mix mutex


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
