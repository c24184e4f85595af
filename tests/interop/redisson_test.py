#!/usr/bin/python3
"""Tyer and the real Redisson on one server exclude each other, and wake each other.

redisson_test.py PEER FOLDER [SECONDS]: the C++ side, what `redisson/prepare` has made, and how long both contend.
Started by `tools/engines run redis -- …`, which says where the server is.
"""

from __future__ import annotations

import os
import sys
import time
import urllib.parse

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tools", "lib")]
sys.dont_write_bytecode = True

import histories
import lab
import resp
from lab import LEASE_MS, SLACK_S, seconds
from peers import PATIENCE_S, Peer

NAMES = ("order/1", "order/{eu}/2", "заказ/3", "order:4")


class Sides:
    """How each side is started."""

    def __init__(self, uri: str, cpp: str, java: str, logs: str):
        self._uri, self._cpp, self._java, self._logs = uri, cpp, java, logs

    def cpp(self, *contention: str) -> Peer:
        words = [self._cpp, f"{self._uri}?protocol=redisson", str(LEASE_MS), *contention]
        return Peer("C++", words, os.path.join(self._logs, "cpp.log"))

    def java(self, *contention: str) -> Peer:
        classes = f"{self._java}/classes:{self._java}/jars/*"
        words = ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8", "-Dsun.jnu.encoding=UTF-8"]
        words += ["-cp", classes, "Peer", self._uri, str(LEASE_MS), *contention]
        return Peer("Java", words, os.path.join(self._logs, "java.log"))


sides: Sides
contention_s: float


def ask_server(*words: str):
    port = urllib.parse.urlsplit(os.environ["TYER_URI"]).port
    with resp.Connection(port, PATIENCE_S) as connection:
        return connection.ask(*words)


def channel(name: str) -> str:
    return "redisson_lock__channel:" + (name if "{" in name else "{" + name + "}")


class Interop(lab.Interop):
    """A process of each side for all tests; every test has names of its own."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.cpp, cls.java = sides.cpp(), sides.java()
        cls.addClassCleanup(cls.java.kill)
        cls.addClassCleanup(cls.cpp.kill)
        for peer in (cls.cpp, cls.java):
            peer.await_ready()

    def await_waiters(self, name: str, count: int) -> None:
        limit = time.monotonic() + PATIENCE_S
        while ask_server("PUBSUB", "NUMSUB", channel(name))[1] != count:
            self.assertLess(time.monotonic(), limit, f"nobody listens to {channel(name)}")
            time.sleep(0.001)


class Exclusion(Interop):
    def test_whoever_holds_it_excludes_the_other_side(self) -> None:
        self.exclude_each_other((self.cpp, self.java), NAMES)

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
        self.outlast_the_lease((self.cpp, self.java))

    def test_nothing_is_left_behind(self) -> None:
        for holder in (self.cpp, self.java):
            self.expect(holder, "locked", "lock", self.name())
            self.expect(holder, "unlocked", "unlock", self.name())
        self.assertEqual(ask_server("EXISTS", self.name()), 0)


class Death(Interop):
    def test_java_gets_what_a_dead_process_of_ours_held(self) -> None:
        self.die_and_inherit(sides.cpp(), self.java)

    def test_we_get_what_a_dead_jvm_held(self) -> None:
        self.die_and_inherit(sides.java(), self.cpp)


class Waking(Interop):
    def test_java_wakes_us(self) -> None:
        self.measure_waking("cpp_woken_by_java_ms", self.java, self.cpp)

    def test_we_wake_java(self) -> None:
        self.measure_waking("java_woken_by_cpp_ms", self.cpp, self.java)


class Contention(lab.Contenders):
    def test_both_sides_contend_and_are_killed(self) -> None:
        self.begin = {
            "C++": lambda file: sides.cpp(file, *NAMES),
            "Java": lambda file: sides.java(file, *NAMES),
        }
        self.seconds = contention_s
        stays = self.contend(("C++", "Java", "C++", "Java"))
        for side in ("cpp", "java"):
            self.assertGreater(sum(stay.side == side for stay in stays), 50, side)
        self.assertGreater(histories.changes_of_side(stays), 20)


def begin(logs: str, seconds_of_contention: float) -> None:
    global sides, contention_s
    sides, contention_s = Sides(os.environ["TYER_URI"], sys.argv[1], sys.argv[2], logs), seconds_of_contention


if __name__ == "__main__":
    sys.exit(lab.main("interop", __doc__, "java", begin))
