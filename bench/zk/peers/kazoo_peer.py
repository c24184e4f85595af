#!/usr/bin/env python3
"""Lock of kazoo, doing what bench_zk has Tyer do: kazoo_peer.py ADDRESS …, see common/peer.hpp."""

from __future__ import annotations

import os
import sys
import threading
import time

from kazoo.client import KazooClient

SESSION_S = 22.5  # as Tyer's for a ttl of 10 s
CLIENTS_MAX = 8
PATIENCE_S = 60.0
WARM_UP_S = 0.5
HERE = f"/kazoo-peer-{os.getpid()}"  # what is left of the run before stands there for as long as its sessions


def connect(address: str) -> KazooClient:
    client = KazooClient(hosts=address, timeout=SESSION_S)
    client.start(timeout=PATIENCE_S)
    return client


def one(address: str, run_s: float) -> float:
    lock = connect(address).Lock(f"{HERE}/one")
    usec, end = [], time.perf_counter() + run_s
    while (before := time.perf_counter()) < end:
        lock.acquire()
        lock.release()
        usec.append((time.perf_counter() - before) * 1e6)
    return sorted(usec)[len(usec) // 2]


class Turns:
    """A thread for each caller, since acquire() blocks."""

    def __init__(self) -> None:
        self._count: list[list[int]] = []

    def begin(self, lock) -> None:
        mine = [0]
        self._count.append(mine)
        threading.Thread(target=self._cycle, args=(lock, mine), daemon=True).start()

    @staticmethod
    def _cycle(lock, mine: list[int]) -> None:
        while True:
            lock.acquire()
            mine[0] += 1
            lock.release()

    def so_far(self) -> int:
        return sum(mine[0] for mine in self._count)

    def per_second(self, run_s: float) -> float:
        before, begin = self.so_far(), time.perf_counter()
        time.sleep(run_s)
        return (self.so_far() - before) / (time.perf_counter() - begin)


def many(address: str, callers: int, run_s: float) -> float:
    client, turns = connect(address), Turns()
    for i in range(callers):
        turns.begin(client.Lock(f"{HERE}/many/{i}"))
    time.sleep(WARM_UP_S)
    return turns.per_second(run_s)


def handover(address: str, callers: int, run_s: float) -> float:
    """Counted from when there were turns for all, and all stand in line again."""
    clients, turns = [connect(address) for _ in range(min(callers, CLIENTS_MAX))], Turns()
    for i in range(callers):
        turns.begin(clients[i % len(clients)].Lock(f"{HERE}/hot"))
    limit = time.perf_counter() + PATIENCE_S
    time.sleep(WARM_UP_S)
    while turns.so_far() < callers and time.perf_counter() < limit:
        time.sleep(0.01)
    return 1e6 / turns.per_second(run_s)


def main() -> None:
    address, what, *numbers = sys.argv[1:]
    run_s = int(numbers[-1]) / 1000
    figure = {
        "one": lambda: one(address, run_s),
        "many": lambda: many(address, int(numbers[0]), run_s),
        "handover": lambda: handover(address, int(numbers[0]), run_s),
    }[what]()
    print(figure, flush=True)
    os._exit(0)  # its sessions end by themselves: nobody waits for their nodes


main()
