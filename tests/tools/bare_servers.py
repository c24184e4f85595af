"""Servers of the fault lab without anything started, for its tests."""

from __future__ import annotations

import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools", "lib"))
sys.dont_write_bytecode = True

from faults import engine
from faults.engine import Servers

WAIT_S_MAX = 5.0


class Notebook:
    """A history that can be read."""

    def __init__(self):
        self.lines: list[tuple[str, int, int, int]] = []

    def add(self, op, t_ns=None, number=0, names=0, **_) -> None:
        self.lines.append((op.name, number, t_ns if t_ns is not None else engine.now_ns(), names))

    def ops(self) -> list[str]:
        return [line[0] for line in self.lines]


def bare(kind: type[Servers]) -> Servers:
    """Without anything started."""
    servers = kind.__new__(kind)
    servers.history, servers.notes, servers.problem = Notebook(), [], None
    servers._outages, servers._open = itertools.count(1), {}
    return servers
