#!/usr/bin/env python3
"""The Python side of the interop tests: locks with the real kazoo, and does what it is told.

  peer.py HOSTS TTL_MS                     commands on standard input, one answer per command
  peer.py HOSTS TTL_MS HISTORY NAME...     contends for the names until it is killed

A command is `THREAD VERB NAME [NUMBER]`, the answer `THREAD RESULT NANOSECONDS` (CLOCK_MONOTONIC). Names lie below /locks.
The C++ side is ../peer.cpp.
"""

from __future__ import annotations

import os
import queue
import random
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout

CONTENDING_THREADS = 2
LONGEST_STAY_S = 0.004
TOKENS_PER_ZXID = 16 * 256  # so that a zxid times this is Tyer's token

_saying = threading.Lock()


def say(*words) -> None:
    with _saying:
        print(*words, flush=True)


class Thread:
    def __init__(self, label: str, client: KazooClient):
        self._label, self._client = label, client
        self._locks: dict[str, object] = {}
        self.told: queue.Queue = queue.Queue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            words = self.told.get()
            try:
                result, ns = self._obey(words[1], words[2], int(words[3]) if len(words) > 3 else 0)
            except Exception as error:  # told to the test
                result, ns = "failed:" + type(error).__name__, time.monotonic_ns()
            say(self._label, result, ns)

    def _obey(self, verb: str, name: str, number: int) -> tuple[str, int]:
        """Releasing takes the time before the call, everything else after it."""
        before = time.monotonic_ns()
        lock = self._locks.setdefault(name, self._client.Lock(f"/locks/{name}", self._label))
        if verb == "lock":
            lock.acquire()
            return "locked", time.monotonic_ns()
        if verb == "try":
            try:
                got = lock.acquire(timeout=number / 1000) if number else lock.acquire(blocking=False)
            except LockTimeout:
                got = False
            return "locked" if got else "busy", time.monotonic_ns()
        if verb == "unlock":
            return "unlocked" if lock.release() else "gone", before
        return "unknown", before


def obey(client: KazooClient) -> None:
    threads: dict[str, Thread] = {}
    say("ready", 0)
    for line in sys.stdin:
        words = line.split()
        if words[0] not in threads:
            threads[words[0]] = Thread(words[0], client)
        threads[words[0]].told.put(words)


def contend(client: KazooClient, history: int, names: list[str], index: int) -> None:
    me = f"py-{os.getpid()}-{index}"

    def note(what: str, which: int, *more) -> None:
        """One write per line, so that a process that is killed leaves whole lines."""
        os.write(history, (" ".join(map(str, (what, which, me, time.monotonic_ns(), *more))) + "\n").encode())

    while True:
        which = random.randrange(len(names))
        lock = client.Lock(f"/locks/{names[which]}", me)
        lock.acquire()
        found = client.exists(f"/locks/{names[which]}/{lock.node}")
        if found:
            note("enter", which, found.czxid * TOKENS_PER_ZXID)
            time.sleep(random.random() * LONGEST_STAY_S)
            note("leave", which)
        lock.release()


def main() -> None:
    hosts, ttl_ms, *rest = sys.argv[1:]
    client = KazooClient(hosts=hosts, timeout=int(ttl_ms) / 1000)
    client.start()
    if not rest:
        return obey(client)
    history = os.open(rest[0], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    threads = [
        threading.Thread(target=contend, args=(client, history, rest[1:], index)) for index in range(CONTENDING_THREADS)
    ]
    for thread in threads:
        thread.start()
    say("ready", 0)
    return None


if __name__ == "__main__":
    main()
