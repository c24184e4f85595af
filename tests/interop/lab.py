"""What the interop tests have in common: two sides that exclude, wake and outlive each other, and are killed."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
import unittest
from collections.abc import Callable

import histories
from peers import Peer

LEASE_MS = 3000
SLACK_S = 2.0  # how much later than promised something may happen on a busy machine
WAKING_ROUNDS = 40
WOKEN_MS_MAX = 50
KILL_EVERY_S = 4.0
CONTENTION_S = 30.0

facts: dict[str, str] = {}


def seconds(ns: int) -> float:
    return ns / 1e9


class Interop(unittest.TestCase):
    """Every test has names of its own."""

    def expect(self, peer: Peer, result: str, verb: str, name: str, number: int | None = None, thread="t") -> int:
        got, ns = peer.ask(thread, verb, name, number)
        self.assertEqual(got, result, f"{peer.side} {verb} {name}")
        return ns

    def name(self) -> str:
        return self.id().rsplit(".", maxsplit=1)[-1]

    def await_waiters(self, name: str, count: int) -> None:
        """Of one who holds or held it: so many wait for the name."""
        raise NotImplementedError

    # --- what several sides are asked in the same way ---

    def exclude_each_other(self, sides: tuple[Peer, Peer], names: tuple[str, ...]) -> None:
        for name in names:
            with self.subTest(name):
                for holder, other in (sides, sides[::-1]):
                    self.expect(holder, "locked", "lock", name)
                    self.expect(other, "busy", "try", name)
                    self.expect(holder, "unlocked", "unlock", name)
                    self.expect(other, "locked", "try", name)
                    self.expect(other, "unlocked", "unlock", name)

    def outlast_the_lease(self, sides: tuple[Peer, Peer]) -> None:
        for holder, other in (sides, sides[::-1]):
            self.expect(holder, "locked", "lock", self.name())
            self.expect(other, "busy", "try", self.name(), LEASE_MS + LEASE_MS // 2)
            self.expect(holder, "unlocked", "unlock", self.name())

    def die_and_inherit(self, victim: Peer, heir: Peer, slack_s: float = SLACK_S) -> None:
        victim.await_ready()
        self.expect(victim, "locked", "lock", self.name())
        heir.tell("t", "lock", self.name())
        self.await_waiters(self.name(), 1)
        self.assertTrue(heir.silent("t"))
        killed = victim.kill()
        got, ns = heir.answer("t")
        self.assertEqual(got, "locked")
        # It was renewed at most a third of the lease before, or a little more on a busy machine.
        self.assertGreater(seconds(ns - killed), LEASE_MS / 1000 / 3)
        self.assertLess(seconds(ns - killed), LEASE_MS / 1000 + slack_s)
        self.expect(heir, "unlocked", "unlock", self.name())

    def measure_waking(self, what: str, holder: Peer, waiter: Peer, ms_max: float = WOKEN_MS_MAX) -> None:
        waits = []
        for _ in range(WAKING_ROUNDS):
            self.expect(holder, "locked", "lock", self.name())
            waiter.tell("t", "lock", self.name())
            self.await_waiters(self.name(), 1)
            unlocked = self.expect(holder, "unlocked", "unlock", self.name())
            got, ns = waiter.answer("t")
            self.assertEqual(got, "locked")
            waits.append((ns - unlocked) / 1e6)
            self.expect(waiter, "unlocked", "unlock", self.name())
            self.await_waiters(self.name(), 0)
        median = statistics.median(waits)
        facts[what] = f"{median:.2f}"
        self.assertLess(median, ms_max)


class Contenders(unittest.TestCase):
    """Processes that write down when they were inside, and are killed one after the other."""

    begin: dict[str, Callable[[str], Peer]]  # by side: with the file that it writes to
    seconds: float

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="tyer-interop-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.files: list[str] = []
        self.ends: dict[int, int] = {}
        self.running: list[tuple[str, Peer]] = []
        self.addCleanup(lambda: [self.kill(*each) for each in list(self.running)])

    def start(self, side: str) -> None:
        self.files.append(os.path.join(self.folder, str(len(self.files))))
        self.running.append((side, self.begin[side](self.files[-1])))

    def kill(self, side: str, peer: Peer) -> None:
        self.assertFalse(peer.died(), f"a process of {peer.side} has ended by itself")
        self.ends[peer.pid] = peer.kill()
        self.running.remove((side, peer))

    def contend(self, sides: tuple[str, ...]) -> list[histories.Stay]:
        for side in sides:
            self.start(side)
        for _, peer in self.running:
            peer.await_ready()
        end = time.monotonic() + self.seconds
        kills = 0
        while time.monotonic() + KILL_EVERY_S < end:
            time.sleep(KILL_EVERY_S)
            side, victim = self.running[0]  # the oldest: so the sides take turns
            self.kill(side, victim)
            self.start(side)
            kills += 1
        time.sleep(max(0.0, end - time.monotonic()))
        for each in list(self.running):
            self.kill(*each)
        facts["kills"] = str(kills)
        return self.judge()

    def judge(self) -> list[histories.Stay]:
        for file in self.files:
            open(file, "ab").close()  # of one that was killed before it could begin
        stays = histories.read(self.files, self.ends)
        met = histories.overlaps(stays)
        facts["overlaps"], facts["acquisitions"] = str(len(met)), str(len(stays))
        facts["changes_of_side"] = str(histories.changes_of_side(stays))
        self.assertEqual(met, [])
        return stays


def main(title: str, usage: str, tool: str, begin: Callable[[str, str, float], None]) -> int:
    """All tests of a program that is started with the C++ side, what was prepared for the other, and perhaps seconds."""
    if len(sys.argv) not in (3, 4):
        print(usage, file=sys.stderr)
        return 2
    if shutil.which(tool) is None:
        print(f"{tool} is missing; run tools/setup", file=sys.stderr)
        return 1
    logs = tempfile.mkdtemp(prefix="tyer-interop-logs-")
    begin(logs, float(sys.argv[3]) if len(sys.argv) == 4 else CONTENTION_S)
    return run(title, logs)


def run(title: str, logs: str) -> int:
    """What was found out on one line, and what the sides said if something was wrong."""
    program = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False)
    first = [what for what in ("overlaps", "order", "acquisitions", "kills") if what in facts]
    rest = sorted(set(facts) - set(first))
    print(f"{title}:", " ".join(f"{what}={facts[what]}" for what in first + rest))
    if not program.result.wasSuccessful():
        for log in sorted(os.listdir(logs)):
            with open(os.path.join(logs, log), encoding="utf-8", errors="replace") as lines:
                print(f"--- {log}", *lines.readlines()[-40:], sep="\n", file=sys.stderr)
    shutil.rmtree(logs, ignore_errors=True)
    return 0 if program.result.wasSuccessful() else 1
