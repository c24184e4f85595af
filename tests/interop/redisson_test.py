#!/usr/bin/python3
"""Tyer and the real Redisson on one server exclude each other, and wake each other.

redisson_test.py PEER FOLDER [SECONDS]: the C++ side, what `redisson/prepare` has made, and how long both contend.
Started by `tools/engines run redis -- …`, which says where the server is.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tools", "lib")]
sys.dont_write_bytecode = True

import histories
import resp
from peers import PATIENCE_S, Peer, Sides

LEASE_MS = 3000
SLACK_S = 2.0  # how much later than promised something may happen on a busy machine
WAKING_ROUNDS = 40
WOKEN_MS_MAX = 50
NAMES = ("order/1", "order/{eu}/2", "заказ/3", "order:4")
KILL_EVERY_S = 4.0

sides: Sides
contention_s = 30.0
facts: dict[str, str] = {}


def ask_server(*words: str):
    port = urllib.parse.urlsplit(os.environ["TYER_URI"]).port
    with resp.Connection(port, PATIENCE_S) as connection:
        return connection.ask(*words)


def channel(name: str) -> str:
    return "redisson_lock__channel:" + (name if "{" in name else "{" + name + "}")


def seconds(ns: int) -> float:
    return ns / 1e9


class Interop(unittest.TestCase):
    """A process of each side for all tests; every test has names of its own."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.cpp, cls.java = sides.cpp(LEASE_MS), sides.java(LEASE_MS)
        cls.addClassCleanup(cls.java.kill)
        cls.addClassCleanup(cls.cpp.kill)
        for peer in (cls.cpp, cls.java):
            peer.await_ready()

    def expect(self, peer: Peer, result: str, verb: str, name: str, number: int | None = None, thread="t") -> int:
        got, ns = peer.ask(thread, verb, name, number)
        self.assertEqual(got, result, f"{peer.side} {verb} {name}")
        return ns

    def await_listeners(self, name: str, count: int) -> None:
        limit = time.monotonic() + PATIENCE_S
        while ask_server("PUBSUB", "NUMSUB", channel(name))[1] != count:
            self.assertLess(time.monotonic(), limit, f"nobody listens to {channel(name)}")
            time.sleep(0.001)

    def name(self) -> str:
        return self.id().rsplit(".", maxsplit=1)[-1]


class Exclusion(Interop):
    def test_whoever_holds_it_excludes_the_other_side(self) -> None:
        for name in NAMES:
            with self.subTest(name):
                for holder, other in ((self.cpp, self.java), (self.java, self.cpp)):
                    self.expect(holder, "locked", "lock", name)
                    self.expect(other, "busy", "try", name)
                    self.expect(holder, "unlocked", "unlock", name)
                    self.expect(other, "locked", "try", name)
                    self.expect(other, "unlocked", "unlock", name)

    def test_a_lock_that_java_entered_twice_is_free_after_the_second_unlock(self) -> None:
        self.expect(self.java, "locked", "lock", self.name())
        self.expect(self.java, "locked", "lock", self.name())
        self.expect(self.cpp, "busy", "try", self.name())
        self.expect(self.java, "unlocked", "unlock", self.name())
        self.expect(self.cpp, "busy", "try", self.name())
        self.expect(self.java, "unlocked", "unlock", self.name())
        self.expect(self.cpp, "locked", "try", self.name())
        self.expect(self.cpp, "unlocked", "unlock", self.name())

    def test_java_sees_our_hold(self) -> None:
        self.expect(self.java, "free", "look", self.name())
        self.expect(self.cpp, "locked", "lock", self.name())
        self.expect(self.java, "held", "look", self.name())
        self.expect(self.java, "failed:IllegalMonitorStateException", "unlock", self.name())
        self.expect(self.cpp, "unlocked", "unlock", self.name())
        self.expect(self.java, "free", "look", self.name())

    def test_what_java_breaks_is_lost(self) -> None:
        self.expect(self.cpp, "locked", "lock", self.name())
        broken = self.expect(self.java, "unlocked", "force", self.name())
        lost = self.expect(self.cpp, "lost", "await_loss", self.name())
        self.assertLess(seconds(lost - broken), LEASE_MS / 1000 / 3 + SLACK_S)  # found by the next renewal
        self.expect(self.java, "locked", "try", self.name())
        self.expect(self.cpp, "gone", "unlock", self.name())
        self.expect(self.java, "held", "look", self.name())
        self.expect(self.java, "unlocked", "unlock", self.name())

    def test_a_hold_lasts_longer_than_its_lease_on_both_sides(self) -> None:
        for holder, other in ((self.cpp, self.java), (self.java, self.cpp)):
            self.expect(holder, "locked", "lock", self.name())
            self.expect(other, "busy", "try", self.name(), LEASE_MS + LEASE_MS // 2)
            self.expect(holder, "unlocked", "unlock", self.name())

    def test_nothing_is_left_behind(self) -> None:
        for holder in (self.cpp, self.java):
            self.expect(holder, "locked", "lock", self.name())
            self.expect(holder, "unlocked", "unlock", self.name())
        self.assertEqual(ask_server("EXISTS", self.name()), 0)


class Death(Interop):
    def die_and_inherit(self, victim: Peer, heir: Peer) -> None:
        victim.await_ready()
        self.expect(victim, "locked", "lock", self.name())
        heir.tell("t", "lock", self.name())
        self.await_listeners(self.name(), 1)
        self.assertTrue(heir.silent("t"))
        killed = victim.kill()
        got, ns = heir.answer("t")
        self.assertEqual(got, "locked")
        # It was renewed at most a third of the lease before, or a little more on a busy machine.
        self.assertGreater(seconds(ns - killed), LEASE_MS / 1000 / 3)
        self.assertLess(seconds(ns - killed), LEASE_MS / 1000 + SLACK_S)
        self.expect(heir, "unlocked", "unlock", self.name())

    def test_java_gets_what_a_dead_process_of_ours_held(self) -> None:
        self.die_and_inherit(sides.cpp(LEASE_MS), self.java)

    def test_we_get_what_a_dead_jvm_held(self) -> None:
        self.die_and_inherit(sides.java(LEASE_MS), self.cpp)


class Waking(Interop):
    def median_ms(self, holder: Peer, waiter: Peer) -> float:
        waits = []
        for _ in range(WAKING_ROUNDS):
            self.expect(holder, "locked", "lock", self.name())
            waiter.tell("t", "lock", self.name())
            self.await_listeners(self.name(), 1)
            unlocked = self.expect(holder, "unlocked", "unlock", self.name())
            got, ns = waiter.answer("t")
            self.assertEqual(got, "locked")
            waits.append((ns - unlocked) / 1e6)
            self.expect(waiter, "unlocked", "unlock", self.name())
            self.await_listeners(self.name(), 0)
        return statistics.median(waits)

    def measure(self, what: str, holder: Peer, waiter: Peer) -> None:
        median = self.median_ms(holder, waiter)
        facts[what] = f"{median:.2f}"
        self.assertLess(median, WOKEN_MS_MAX)

    def test_java_wakes_us(self) -> None:
        self.measure("cpp_woken_by_java_ms", self.java, self.cpp)

    def test_we_wake_java(self) -> None:
        self.measure("java_woken_by_cpp_ms", self.cpp, self.java)


class Contention(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="tyer-interop-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.files: list[str] = []
        self.ends: dict[int, int] = {}
        self.running: list[Peer] = []
        self.addCleanup(lambda: [self.kill(peer) for peer in list(self.running)])

    def start(self, side: str) -> None:
        self.files.append(os.path.join(self.folder, str(len(self.files))))
        begin = sides.cpp if side == "C++" else sides.java
        self.running.append(begin(LEASE_MS, self.files[-1], *NAMES))

    def kill(self, peer: Peer) -> None:
        self.assertFalse(peer.died(), f"a process of {peer.side} has ended by itself")
        self.ends[peer.pid] = peer.kill()
        self.running.remove(peer)

    def test_both_sides_contend_and_are_killed(self) -> None:
        for side in ("C++", "Java", "C++", "Java"):
            self.start(side)
        for peer in self.running:
            peer.await_ready()
        end = time.monotonic() + contention_s
        kills = 0
        while time.monotonic() + KILL_EVERY_S < end:
            time.sleep(KILL_EVERY_S)
            victim = self.running[0]  # the oldest: so the sides take turns
            self.kill(victim)
            self.start(victim.side)
            kills += 1
        time.sleep(max(0.0, end - time.monotonic()))
        for peer in list(self.running):
            self.kill(peer)
        self.judge(kills)

    def judge(self, kills: int) -> None:
        for file in self.files:
            open(file, "ab").close()  # of one that was killed before it could begin
        stays = histories.read(self.files, self.ends)
        met = histories.overlaps(stays)
        facts["overlaps"], facts["kills"] = str(len(met)), str(kills)
        facts["acquisitions"] = str(len(stays))
        facts["changes_of_side"] = str(histories.changes_of_side(stays))
        self.assertEqual(met, [])
        for side in ("cpp", "java"):
            self.assertGreater(sum(stay.side == side for stay in stays), 50, side)
        self.assertGreater(histories.changes_of_side(stays), 20)


def main() -> int:
    global sides, contention_s
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("java") is None:
        print("java is missing; run tools/setup", file=sys.stderr)
        return 1
    contention_s = float(sys.argv[3]) if len(sys.argv) == 4 else contention_s
    logs = tempfile.mkdtemp(prefix="tyer-interop-logs-")
    sides = Sides(os.environ["TYER_URI"], sys.argv[1], sys.argv[2], logs)
    program = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False)
    print("interop:", " ".join(f"{what}={value}" for what, value in sorted(facts.items())))
    if not program.result.wasSuccessful():
        for log in sorted(os.listdir(logs)):
            with open(os.path.join(logs, log), encoding="utf-8", errors="replace") as lines:
                print(f"--- {log}", *lines.readlines()[-40:], sep="\n", file=sys.stderr)
    shutil.rmtree(logs, ignore_errors=True)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
