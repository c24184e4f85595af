"""Lets a client not hear what a server has answered, whatever they speak (drop_replies.c does it)."""

from __future__ import annotations

import mmap
import os
import struct

import clock_shift

_SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "drop_replies.c")
_ORDERS = struct.Struct("@iiii")  # to be dropped by a reset, by silence; dropped; nothing


def compile_to(library: str) -> None:
    clock_shift.compile_to(library, _SOURCE)


def begin(path: str) -> None:
    """The file with the orders. To be there before the process starts."""
    with open(path, "wb") as file:
        file.write(bytes(_ORDERS.size))


def order(path: str, by_silence: bool) -> None:
    """What is read next from a connection is dropped. In place, since the process has this file mapped; it takes an
    order away when it has carried it out, so one may get lost here, which does no harm."""
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), _ORDERS.size) as orders:
        struct.pack_into("@i", orders, 4 if by_silence else 0, 1)


def dropped(path: str) -> int:
    with open(path, "rb") as file:
        return _ORDERS.unpack(file.read(_ORDERS.size))[2]
