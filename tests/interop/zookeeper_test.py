#!/usr/bin/python3
"""Tyer and kazoo, or Tyer and Curator or go-zookeeper, on one ZooKeeper exclude each other, stand in one queue, and wake each other.

zookeeper_test.py PEER FOLDER [SECONDS]: the C++ side, what `kazoo/prepare`, `curator/prepare` or `zk_go/prepare` has made (the
folder is called so), and how long both contend. Started by `tools/engines run zk -- …`, which says where the server is.
"""

from __future__ import annotations

import os
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tools", "lib")]
sys.dont_write_bytecode = True

import histories
import lab
import zk_wire
from lab import LEASE_MS, SLACK_S, seconds
from peers import PATIENCE_S, Peer

NAMES = ("order/1", "order/eu/2", "заказ/3", "order:4")
# A session of ours has 2.25 times the ttl; and the servers look for ended ones once a tick.
OURS_LASTS_S = LEASE_MS / 1000 * 1.25 + 1.0
THEIRS_LASTS_S = 1.5


class Sides:
    """How each side is started."""

    def __init__(self, uri: str, cpp: str, folder: str, logs: str):
        self.kind = os.path.basename(os.path.realpath(folder))
        self.hosts = uri.removeprefix("zk://")
        self._cpp, self._folder, self._logs = cpp, folder, logs

    def cpp(self, *contention: str, protocol: str = "") -> Peer:
        protocol = protocol or ("kazoo" if self.kind == "kazoo" else "curator")
        words = [self._cpp, f"zk://{self.hosts}/locks?protocol={protocol}", str(LEASE_MS), *contention]
        return Peer("C++", words, os.path.join(self._logs, "cpp.log"))

    def other(self, *contention: str) -> Peer:
        words = {
            "kazoo": ["env", f"PYTHONPATH={self._folder}/modules", "python3", os.path.join(HERE, "kazoo", "peer.py")],
            "curator": ["java", "-Xmx128m", "-cp", f"{self._folder}/classes:{self._folder}/jars/*", "Peer"],
            "zk_go": [os.path.join(self._folder, "peer")],
        }[self.kind]
        return Peer(self.kind, [*words, self.hosts, str(LEASE_MS), *contention], os.path.join(self._logs, f"{self.kind}.log"))


sides: Sides
contention_s: float


def nodes_of(name: str) -> list[str]:
    with zk_wire.Session(int(sides.hosts.split(",")[0].rsplit(":", 1)[1]), PATIENCE_S) as session:
        return session.children(f"/locks/{name}")


class Interop(lab.Interop):
    """A process of each side for all tests."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.cpp, cls.other = sides.cpp(), sides.other()
        cls.addClassCleanup(cls.other.kill)
        cls.addClassCleanup(cls.cpp.kill)
        for peer in (cls.cpp, cls.other):
            peer.await_ready()

    def await_nodes(self, name: str, count: int) -> None:
        limit = time.monotonic() + PATIENCE_S
        while len(nodes_of(name)) != count:
            self.assertLess(time.monotonic(), limit, f"{name} has {nodes_of(name)}")
            time.sleep(0.001)

    def await_waiters(self, name: str, count: int) -> None:
        self.await_nodes(name, count + 1 if count > 0 else 0)


class Exclusion(Interop):
    def test_whoever_holds_it_excludes_the_other_side(self) -> None:
        if sides.kind == "zk_go":
            self.skipTest("a Lock in Go can only wait")
        self.exclude_each_other((self.cpp, self.other), NAMES)

    def test_while_the_other_side_holds_it_we_do_not(self) -> None:
        for name in NAMES:
            self.expect(self.other, "locked", "lock", name)
            self.expect(self.cpp, "busy", "try", name)
            self.expect(self.cpp, "busy", "try", name, 200)
            self.await_nodes(name, 1)
            self.expect(self.other, "unlocked", "unlock", name)
            self.expect(self.cpp, "locked", "try", name)
            self.expect(self.cpp, "unlocked", "unlock", name)

    def test_whoever_came_first_has_it_first(self) -> None:
        self.expect(self.other, "locked", "lock", self.name())
        # Two of one C++ client are one in the engine's queue, and the second follows the first: so they are two clients.
        second = sides.cpp()
        self.addCleanup(second.kill)
        line = [(self.cpp, "a"), (self.other, "b"), (second.await_ready(), "c"), (self.other, "d")]
        for ahead, (peer, thread) in enumerate(line, 1):
            peer.tell(thread, "lock", self.name())
            self.await_nodes(self.name(), ahead + 1)
        self.expect(self.other, "unlocked", "unlock", self.name())
        for at, (peer, thread) in enumerate(line):
            self.assertEqual(peer.answer(thread)[0], "locked")
            for later, name in line[at + 1 :]:
                self.assertTrue(later.silent(name))
            self.expect(peer, "unlocked", "unlock", self.name(), thread=thread)
        self.assertEqual(nodes_of(self.name()), [])

    def test_a_deleted_node_is_a_lost_hold(self) -> None:
        self.expect(self.cpp, "locked", "lock", self.name())
        with zk_wire.Session(int(sides.hosts.rsplit(":", 1)[1]), PATIENCE_S) as session:
            session.delete(f"/locks/{self.name()}/{nodes_of(self.name())[0]}")
        deleted = time.monotonic_ns()
        lost = self.expect(self.cpp, "lost", "await_loss", self.name())
        self.assertLess(seconds(lost - deleted), SLACK_S)
        self.expect(self.other, "locked", "lock", self.name())
        self.expect(self.cpp, "gone", "unlock", self.name())
        self.expect(self.other, "unlocked", "unlock", self.name())

    def test_our_hold_outlasts_its_lease(self) -> None:
        self.expect(self.cpp, "locked", "lock", self.name())
        self.other.tell("t", "lock", self.name())
        time.sleep(1.5 * LEASE_MS / 1000)
        self.assertTrue(self.other.silent("t"))
        self.expect(self.cpp, "unlocked", "unlock", self.name())
        self.assertEqual(self.other.answer("t")[0], "locked")
        self.expect(self.other, "unlocked", "unlock", self.name())


class ReadersAndWriters(Interop):
    """As Curator has them."""

    def test_a_writer_of_ours_and_readers_of_curators(self) -> None:
        if sides.kind != "curator":
            self.skipTest("Curator only")
        writer = sides.cpp(protocol="curator-rw")
        self.addCleanup(writer.kill)
        writer.await_ready()
        self.expect(self.other, "locked", "read-lock", self.name(), thread="one")
        self.expect(self.other, "locked", "read-lock", self.name(), thread="two")
        self.expect(writer, "busy", "try", self.name())
        self.expect(self.other, "unlocked", "read-unlock", self.name(), thread="one")
        self.expect(writer, "busy", "try", self.name())
        self.expect(self.other, "unlocked", "read-unlock", self.name(), thread="two")
        self.expect(writer, "locked", "lock", self.name())
        self.expect(self.other, "busy", "read-try", self.name(), 200, thread="one")
        self.expect(self.other, "busy", "write-try", self.name(), 200, thread="two")
        self.expect(writer, "unlocked", "unlock", self.name())
        self.expect(self.other, "locked", "write-lock", self.name(), thread="two")
        self.expect(writer, "busy", "try", self.name())
        self.expect(self.other, "unlocked", "write-unlock", self.name(), thread="two")


    def test_readers_of_both_read_together(self) -> None:
        if sides.kind != "curator":
            self.skipTest("Curator only")
        ours = sides.cpp(protocol="curator-rw")
        self.addCleanup(ours.kill)
        ours.await_ready()
        self.expect(self.other, "locked", "read-lock", self.name(), thread="one")
        self.expect(ours, "locked", "read-lock", self.name())
        self.expect(self.other, "busy", "write-try", self.name(), 200, thread="two")
        self.expect(self.other, "unlocked", "read-unlock", self.name(), thread="one")
        self.expect(self.other, "busy", "write-try", self.name(), 200, thread="two")
        self.expect(ours, "unlocked", "read-unlock", self.name())
        self.expect(self.other, "locked", "write-lock", self.name(), thread="two")
        self.expect(ours, "busy", "read-try", self.name(), 200)
        self.expect(self.other, "unlocked", "write-unlock", self.name(), thread="two")
        self.expect(ours, "locked", "read-try", self.name())
        self.expect(ours, "unlocked", "read-unlock", self.name())


class Death(Interop):
    def test_they_get_what_a_dead_process_of_ours_held(self) -> None:
        self.die_and_inherit(sides.cpp(), self.other, OURS_LASTS_S + SLACK_S)

    def test_we_get_what_a_dead_process_of_theirs_held(self) -> None:
        self.die_and_inherit(sides.other(), self.cpp, THEIRS_LASTS_S + SLACK_S)

    def test_a_dead_one_in_the_queue_is_passed_over(self) -> None:
        for dying, heir in ((sides.other(), self.cpp), (sides.cpp(), self.other)):
            dying.await_ready()
            self.expect(self.other, "locked", "lock", self.name(), thread="holder")
            dying.tell("t", "lock", self.name())
            self.await_waiters(self.name(), 1)
            heir.tell("t", "lock", self.name())
            self.await_waiters(self.name(), 2)
            dying.kill()
            self.await_waiters(self.name(), 1)
            self.assertTrue(heir.silent("t"))
            self.expect(self.other, "unlocked", "unlock", self.name(), thread="holder")
            self.assertEqual(heir.answer("t")[0], "locked")
            self.expect(heir, "unlocked", "unlock", self.name())


class Waking(Interop):
    def test_they_wake_us(self) -> None:
        self.measure_waking(f"cpp_woken_by_{sides.kind}_ms", self.other, self.cpp)

    def test_we_wake_them(self) -> None:
        self.measure_waking(f"{sides.kind}_woken_by_cpp_ms", self.cpp, self.other)

    def test_they_wake_each_other(self) -> None:
        """To compare with."""
        peer = sides.other()
        self.addCleanup(peer.kill)
        self.measure_waking(f"{sides.kind}_woken_by_{sides.kind}_ms", peer.await_ready(), self.other)


class Contention(lab.Contenders):
    def test_all_contend_and_are_killed(self) -> None:
        self.begin = {"C++": lambda file: sides.cpp(file, *NAMES), "other": lambda file: sides.other(file, *NAMES)}
        self.seconds = contention_s
        stays = self.contend(("C++", "other", "C++", "other"))
        if sides.kind == "kazoo":  # the others do not say which node is theirs
            wrong = histories.out_of_order(stays)
            lab.facts["order"] = str(len(wrong))
            self.assertEqual(wrong, [])
        self.assertGreater(sum(stay.side == "cpp" for stay in stays), 50)
        self.assertGreater(sum(stay.side != "cpp" for stay in stays), 50)
        self.assertGreater(histories.changes_of_side(stays), 20)


def begin(logs: str, seconds_of_contention: float) -> None:
    global sides, contention_s
    sides, contention_s = Sides(os.environ["TYER_URI"], sys.argv[1], sys.argv[2], logs), seconds_of_contention


if __name__ == "__main__":
    sys.exit(lab.main("interop.zookeeper", __doc__, "python3", begin))
