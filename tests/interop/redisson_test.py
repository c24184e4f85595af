#!/usr/bin/python3
"""Tyer and the real Redisson on one server, Sentinel or Cluster exclude each other, and wake each other.

redisson_test.py PEER FOLDER [SECONDS]: the C++ side, what `redisson/prepare` has made, and how long both contend.
Started by `tools/engines run redis -- …`, which says where the server is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
TOOLS = os.path.join(HERE, "..", "..", "tools")
sys.path[:0] = [HERE, os.path.join(TOOLS, "lib")]
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
servers: list[int]
contention_s: float


def engines(*words: str) -> str:
    ran = subprocess.run([os.path.join(TOOLS, "engines"), *words], capture_output=True, text=True, check=True)
    return ran.stdout


def ports() -> list[int]:
    """Of all servers that may have a name."""
    members = json.loads(engines("members", "--json", os.environ["TYER_URI"]))
    return [member["port"] for member in members if not member["name"].startswith("sentinel")]


def ask(port: int, *words: str):
    with resp.Connection(port, PATIENCE_S) as connection:
        return connection.ask(*words)


def listening(to: str) -> int:
    """How many subscriptions there are, plain and sharded."""
    verbs = ("NUMSUB", "SHARDNUMSUB") if "+cluster" in os.environ["TYER_URI"] else ("NUMSUB",)
    return sum(ask(port, "PUBSUB", verb, to)[1] for port in servers for verb in verbs)


def lies_somewhere(name: str) -> bool:
    return any(name in ask(port, "KEYS", "*") for port in servers)


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
        """In a cluster a waiter of ours listens in both ways, so there may be more."""
        limit = time.monotonic() + PATIENCE_S
        while (found := listening(channel(name))) < count or (found > 0 and count == 0):
            self.assertLess(time.monotonic(), limit, f"{found} listen to {channel(name)}")
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
        self.assertFalse(lies_somewhere(self.name()))


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


class Failover(Interop):
    def lock_again(self, peer: Peer, name: str) -> None:
        """As soon as it can again: meanwhile it may fail, and 3.16.8 says of an unlock that it repeats that it had no lock."""
        limit = time.monotonic() + PATIENCE_S
        while peer.ask("t", "try", name)[0] != "locked" or peer.ask("t", "unlock", name)[0] != "unlocked":
            self.assertLess(time.monotonic(), limit, f"{peer.side} does not lock any more")
            time.sleep(0.05)

    def await_replicas(self, name: str) -> None:
        limit = time.monotonic() + PATIENCE_S
        while not all(name in ask(port, "KEYS", "*") for port in servers):
            self.assertLess(time.monotonic(), limit, f"not all servers have {name}")
            time.sleep(0.005)

    @unittest.skipIf("+" not in os.environ.get("TYER_URI", ""), "one server")
    def test_both_go_on_at_the_new_master(self) -> None:
        both = (self.cpp, self.java)
        name = self.name()
        if "+cluster" in os.environ["TYER_URI"]:  # one of the first master, which is the one to be replaced
            names = (f"{name}/{i}" for i in range(1000))
            name = next(n for n in names if ask(servers[0], "CLUSTER", "KEYSLOT", n) < 5000)
        self.exclude_each_other(both, (name,))
        engines("failover", os.environ["TYER_URI"])
        for peer in both:
            self.lock_again(peer, f"{name}/{peer.side}")
        self.exclude_each_other(both, (name,))
        for holder, waiter in (both, both[::-1]):
            self.expect(holder, "locked", "lock", name)
            waiter.tell("t", "lock", name)
            self.await_waiters(name, 1)
            unlocked = self.expect(holder, "unlocked", "unlock", name)
            got, ns = waiter.answer("t")
            self.assertEqual(got, "locked")
            self.assertLess(seconds(ns - unlocked), LEASE_MS / 1000 / 2)  # woken: else it looks again after its lease
            self.expect(waiter, "unlocked", "unlock", name)
            self.await_waiters(name, 0)

    @unittest.skipUnless("+sentinel" in os.environ.get("TYER_URI", ""), "the master of a Sentinel")
    def test_whoever_waits_when_the_master_dies_gets_the_lock_at_the_next(self) -> None:
        for number, (holder, waiter) in enumerate(((self.cpp, self.java), (self.java, self.cpp))):
            name = f"{self.name()}/{number}"
            self.expect(holder, "locked", "lock", name)
            waiter.tell("t", "lock", name)
            self.await_waiters(name, 1)
            self.await_replicas(name)  # or the failover forgets it, as the page says
            victim = engines("kill", os.environ["TYER_URI"], "master").split()
            engines("wait", os.environ["TYER_URI"])
            engines("restart", os.environ["TYER_URI"], *victim)
            holder.ask("t", "unlock", name)  # whatever it says: its lease ends in any case
            self.assertEqual(waiter.answer("t")[0], "locked")
            self.lock_again(holder, f"{name}/other")
            self.assertEqual(waiter.ask("t", "unlock", name)[0], "unlocked")
            engines("wait", os.environ["TYER_URI"])

    @unittest.skipUnless("+cluster" in os.environ.get("TYER_URI", ""), "slots")
    def test_whoever_waits_when_the_slot_moves_gets_the_lock_at_the_other_master(self) -> None:
        for number, (holder, waiter) in enumerate(((self.cpp, self.java), (self.java, self.cpp))):
            name = f"{self.name()}/{number}"
            slot = ask(servers[0], "CLUSTER", "KEYSLOT", name)
            self.expect(holder, "locked", "lock", name)
            waiter.tell("t", "lock", name)
            self.await_waiters(name, 1)
            engines("migrate", os.environ["TYER_URI"], str(slot), f"master-{(slot // 5462 + 1) % 3}")
            said, unlocked = holder.ask("t", "unlock", name)
            if holder is self.cpp:  # on a busy machine the JVM was seen to lose it meanwhile
                self.assertEqual(said, "unlocked")
            got, ns = waiter.answer("t")
            self.assertEqual(got, "locked")
            self.assertLess(seconds(ns - unlocked), LEASE_MS / 1000 + SLACK_S)  # it looks again after its lease
            self.expect(waiter, "unlocked", "unlock", name)


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
    global sides, servers, contention_s
    sides, servers = Sides(os.environ["TYER_URI"], sys.argv[1], sys.argv[2], logs), ports()
    contention_s = seconds_of_contention


if __name__ == "__main__":
    sys.exit(lab.main("interop", __doc__, "java", begin))
