#!/usr/bin/python3
"""Tyer, Go's clientv3/concurrency and `etcdctl lock` on one etcd exclude each other, stand in one queue, and wake each other.

etcd_go_test.py PEER FOLDER [SECONDS]: the C++ side, what `etcd_go/prepare` has made, and how long all contend.
Started by `tools/engines run etcd -- …`, which says where the server is.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import histories
import lab
from lab import LEASE_MS, SLACK_S, seconds
from peers import PATIENCE_S, Peer

NAMES = ("order/1", "order/eu/2", "заказ/3", "order:4")
# A dead program's lease: etcd looks for ended ones twice a second, and a member's lease may be counted a little longer.
ENDED_LATE_S = 1.5
# Go watches from the revision it has just read, which is not news any more: etcd looks after such watches every 100 ms.
GO_WOKEN_MS_MAX = 250


class Sides:
    """How each side is started."""

    def __init__(self, uri: str, cpp: str, folder: str, logs: str):
        self._uri, self._cpp, self._go, self._logs = uri, cpp, os.path.join(folder, "peer"), logs
        self.endpoints = uri.removeprefix("etcd://")

    def cpp(self, *contention: str) -> Peer:
        words = [self._cpp, f"{self._uri}?protocol=go", str(LEASE_MS), *contention]
        return Peer("C++", words, os.path.join(self._logs, "cpp.log"))

    def go(self, *contention: str) -> Peer:
        words = [self._go, self.endpoints, str(LEASE_MS // 1000), *contention]
        return Peer("Go", words, os.path.join(self._logs, "go.log"))

    def ctl(self, *contention: str) -> Peer:
        words = [os.path.join(HERE, "etcd_go", "etcdctl_peer"), self._go, self.endpoints, str(LEASE_MS // 1000)]
        return Peer("etcdctl", [*words, *contention], os.path.join(self._logs, "etcdctl.log"))


sides: Sides
contention_s: float


def keys_of(name: str) -> list[str]:
    """The keys of the name, as the server has them now."""
    host, port = sides.endpoints.split(",", maxsplit=1)[0].split(":")
    server = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_S)
    try:
        begin, end = (base64.b64encode((name + last).encode()).decode() for last in "/0")
        server.request("POST", "/v3/kv/range", json.dumps({"key": begin, "range_end": end}))
        answer = json.loads(server.getresponse().read())
    finally:
        server.close()
    return [base64.b64decode(kv["key"]).decode() for kv in answer.get("kvs", [])]


def etcdctl(*words: str) -> list[str]:
    return ["etcdctl", f"--endpoints={sides.endpoints}", *words]


class Interop(lab.Interop):
    """A process of each side for all tests."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.cpp, cls.go = sides.cpp(), sides.go()
        cls.addClassCleanup(cls.go.kill)
        cls.addClassCleanup(cls.cpp.kill)
        for peer in (cls.cpp, cls.go):
            peer.await_ready()

    def await_keys(self, name: str, count: int) -> None:
        limit = time.monotonic() + PATIENCE_S
        while len(keys_of(name)) != count:
            self.assertLess(time.monotonic(), limit, f"{name}/ has {keys_of(name)}")
            time.sleep(0.001)

    def await_waiters(self, name: str, count: int) -> None:
        self.await_keys(name, count + 1 if count > 0 else 0)


class Exclusion(Interop):
    def test_whoever_holds_it_excludes_the_other_side(self) -> None:
        self.exclude_each_other((self.cpp, self.go), NAMES)

    def test_two_threads_of_one_client_are_two(self) -> None:
        self.expect(self.cpp, "locked", "lock", self.name(), thread="one")
        self.expect(self.cpp, "busy", "try", self.name(), thread="two")
        self.expect(self.cpp, "busy", "try", self.name(), 200, thread="two")
        self.expect(self.cpp, "unlocked", "unlock", self.name(), thread="one")
        self.expect(self.cpp, "locked", "try", self.name(), thread="two")
        self.expect(self.cpp, "unlocked", "unlock", self.name(), thread="two")

    def test_whoever_came_first_has_it_first(self) -> None:
        self.expect(self.go, "locked", "lock", self.name())
        line = [(self.cpp, "a"), (self.go, "b"), (self.cpp, "c"), (self.go, "d")]
        # Two of one C++ client are one in the engine's queue, and the second follows the first: so they are two clients.
        second = sides.cpp()
        self.addCleanup(second.kill)
        line[2] = (second.await_ready(), "c")
        for ahead, (peer, thread) in enumerate(line, 1):
            peer.tell(thread, "lock", self.name())
            self.await_keys(self.name(), ahead + 1)
        self.expect(self.go, "unlocked", "unlock", self.name())
        for at, (peer, thread) in enumerate(line):
            self.assertEqual(peer.answer(thread)[0], "locked")
            for later, name in line[at + 1 :]:
                self.assertTrue(later.silent(name))
            self.expect(peer, "unlocked", "unlock", self.name(), thread=thread)
        self.assertEqual(keys_of(self.name()), [])

    def test_one_who_gives_up_leaves_the_queue(self) -> None:
        for holder, impatient in ((self.cpp, self.go), (self.go, self.cpp)):
            self.expect(holder, "locked", "lock", self.name())
            self.expect(impatient, "busy", "try", self.name(), 200)
            self.await_keys(self.name(), 1)
            self.expect(holder, "unlocked", "unlock", self.name())

    def test_a_deleted_key_is_a_lost_hold(self) -> None:
        self.expect(self.cpp, "locked", "lock", self.name())
        subprocess.run(etcdctl("del", keys_of(self.name())[0]), check=True, capture_output=True)
        deleted = time.monotonic_ns()
        lost = self.expect(self.cpp, "lost", "await_loss", self.name())
        self.assertLess(seconds(lost - deleted), SLACK_S)
        self.expect(self.go, "locked", "try", self.name())
        self.expect(self.cpp, "gone", "unlock", self.name())
        self.expect(self.cpp, "busy", "try", self.name())
        self.expect(self.go, "unlocked", "unlock", self.name())

    def test_a_hold_lasts_longer_than_its_lease_on_both_sides(self) -> None:
        self.outlast_the_lease((self.cpp, self.go))

    def test_nothing_is_left_behind(self) -> None:
        for holder in (self.cpp, self.go):
            self.expect(holder, "locked", "lock", self.name())
            self.assertEqual(len(keys_of(self.name())), 1)
            self.expect(holder, "unlocked", "unlock", self.name())
            self.assertEqual(keys_of(self.name()), [])


    def test_a_longer_name_is_another_one_to_us_but_not_to_go(self) -> None:
        self.expect(self.cpp, "locked", "lock", f"{self.name()}/eu")
        self.expect(self.cpp, "locked", "try", self.name(), thread="two")
        self.expect(self.cpp, "unlocked", "unlock", self.name(), thread="two")
        self.expect(self.go, "busy", "try", self.name())
        self.expect(self.cpp, "unlocked", "unlock", f"{self.name()}/eu")

    def test_what_has_no_lease_is_no_lock(self) -> None:
        subprocess.run(etcdctl("put", f"{self.name()}/42", "x"), check=True, capture_output=True)
        got, _ = self.cpp.ask("t", "try", self.name())
        self.assertTrue(got.startswith("failed:"), got)
        self.assertEqual(keys_of(self.name()), [f"{self.name()}/42"])

    def test_our_key_is_as_go_would_write_it(self) -> None:
        self.expect(self.cpp, "locked", "lock", self.name())
        [key] = keys_of(self.name())
        name, lease = key.rsplit("/", maxsplit=1)
        self.assertEqual(name, self.name())
        told = subprocess.run(etcdctl("lease", "timetolive", lease, "--keys"), check=True, capture_output=True, text=True)
        self.assertIn(f"attached keys([{key}])", told.stdout)
        self.expect(self.cpp, "unlocked", "unlock", self.name())


class Etcdctl(Interop):
    def lock(self) -> subprocess.Popen:
        """`etcdctl lock NAME`, which says its key when it holds it, and holds it until it is told to stop."""
        process = subprocess.Popen(etcdctl("lock", f"--ttl={LEASE_MS // 1000}", self.name()), stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_excludes_us_and_waits_for_us(self) -> None:
        first = self.lock()
        self.assertTrue(first.stdout.readline().startswith(self.name().encode() + b"/"))
        self.expect(self.cpp, "busy", "try", self.name())
        self.cpp.tell("t", "lock", self.name())
        self.await_waiters(self.name(), 1)
        second = self.lock()
        self.await_waiters(self.name(), 2)
        first.terminate()
        self.assertEqual(self.cpp.answer("t")[0], "locked")
        self.assertEqual(len(keys_of(self.name())), 2, "the second waits")
        self.expect(self.cpp, "unlocked", "unlock", self.name())
        self.assertTrue(second.stdout.readline().startswith(self.name().encode() + b"/"))
        second.terminate()
        self.await_keys(self.name(), 0)

    def test_we_get_what_a_dead_etcdctl_held(self) -> None:
        dead = self.lock()
        self.assertTrue(dead.stdout.readline())
        self.cpp.tell("t", "lock", self.name())
        self.await_waiters(self.name(), 1)
        killed = time.monotonic_ns()
        dead.kill()
        got, ns = self.cpp.answer("t")
        self.assertEqual(got, "locked")
        self.assertLess(seconds(ns - killed), LEASE_MS / 1000 + ENDED_LATE_S + SLACK_S)
        self.expect(self.cpp, "unlocked", "unlock", self.name())


class Death(Interop):
    def test_go_gets_what_a_dead_process_of_ours_held(self) -> None:
        self.die_and_inherit(sides.cpp(), self.go, ENDED_LATE_S + SLACK_S)

    def test_we_get_what_a_dead_program_in_go_held(self) -> None:
        self.die_and_inherit(sides.go(), self.cpp, ENDED_LATE_S + SLACK_S)

    def test_a_dead_one_in_the_queue_is_passed_over(self) -> None:
        for dying, heir in ((sides.go(), self.cpp), (sides.cpp(), self.go)):
            dying.await_ready()
            self.expect(self.go, "locked", "lock", self.name(), thread="holder")
            dying.tell("t", "lock", self.name())
            self.await_waiters(self.name(), 1)
            heir.tell("t", "lock", self.name())
            self.await_waiters(self.name(), 2)
            dying.kill()
            self.await_waiters(self.name(), 1)
            self.assertTrue(heir.silent("t"))
            self.expect(self.go, "unlocked", "unlock", self.name(), thread="holder")
            self.assertEqual(heir.answer("t")[0], "locked")
            self.expect(heir, "unlocked", "unlock", self.name())


class Waking(Interop):
    def test_go_wakes_us(self) -> None:
        self.measure_waking("cpp_woken_by_go_ms", self.go, self.cpp)

    def test_we_wake_go(self) -> None:
        self.measure_waking("go_woken_by_cpp_ms", self.cpp, self.go, GO_WOKEN_MS_MAX)

    def test_go_wakes_go(self) -> None:
        """To compare with."""
        other = sides.go()
        self.addCleanup(other.kill)
        self.measure_waking("go_woken_by_go_ms", other.await_ready(), self.go, GO_WOKEN_MS_MAX)


class Contention(lab.Contenders):
    def test_all_contend_and_are_killed(self) -> None:
        self.begin = {
            "C++": lambda file: sides.cpp(file, *NAMES),
            "Go": lambda file: sides.go(file, *NAMES),
            "etcdctl": lambda file: sides.ctl(file, *NAMES),
        }
        self.seconds = contention_s
        stays = self.contend(("C++", "Go", "etcdctl", "C++", "Go"))
        wrong = histories.out_of_order(stays)
        lab.facts["order"] = str(len(wrong))
        self.assertEqual(wrong, [])
        for side, least in (("cpp", 50), ("go", 50), ("ctl", 5)):
            self.assertGreater(sum(stay.side == side for stay in stays), least, side)
        self.assertGreater(histories.changes_of_side(stays), 20)


def begin(logs: str, seconds_of_contention: float) -> None:
    global sides, contention_s
    sides, contention_s = Sides(os.environ["TYER_URI"], sys.argv[1], sys.argv[2], logs), seconds_of_contention


if __name__ == "__main__":
    sys.exit(lab.main("interop.etcd_go", __doc__, "etcdctl", begin))
