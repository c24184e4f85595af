#!/usr/bin/python3
"""The fault lab itself: what it does when a server cuts it off, when there is no master, and when promises did not hold."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import random
import socket
import sys
import tempfile
import threading
import time
import types
import unittest

sys.dont_write_bytecode = True

from bare_servers import WAIT_S_MAX, Notebook, bare
from faults import engine, lookout, sentinel
from faults.children import LabError
from faults.cluster import Cluster
from faults.engine import Servers
from faults.etcd import Etcd
from faults.history import LostBy
from faults.lab import Lab
from faults.lookout import Lookout
from faults.sentinel import SERVERS, Sentinel
from faults.single import Single
from resp import ReplyError


class Server:
    """Answers each connection with the next of these; None: cuts it off."""

    def __init__(self, *answers: bytes | None):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(WAIT_S_MAX)
        self.port = self._socket.getsockname()[1]
        self.asked = 0
        self._thread = threading.Thread(target=self._serve, args=(answers,))
        self._thread.start()

    def _serve(self, answers: tuple[bytes | None, ...]) -> None:
        for answer in answers:
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                return
            with connection:
                connection.recv(1000)
                self.asked += 1
                if answer is not None:
                    connection.sendall(answer)

    def end(self) -> None:
        self._thread.join()
        self._socket.close()


class Asking(unittest.TestCase):
    def asked(self, *answers: bytes | None):
        server = Server(*answers)
        servers = bare(Servers)
        servers.ports = {"node-0": server.port}
        try:
            return servers.ask_node("node-0", "REPLICAOF", "127.0.0.1", "1"), server
        finally:
            server.end()

    def test_a_connection_that_is_reset_is_asked_again(self) -> None:
        answer, server = self.asked(None, None, b"+OK\r\n")
        self.assertEqual((answer, server.asked), ("OK", 3))

    def test_an_error_of_the_second_time_is_no_error(self) -> None:
        answer, _ = self.asked(None, b"-ERR already done\r\n")
        self.assertIsNone(answer)

    def test_an_error_of_the_first_time_names_who_said_it(self) -> None:
        with self.assertRaisesRegex(ReplyError, "node-0 answered REPLICAOF 127.0.0.1 with: ERR no"):
            self.asked(b"-ERR no\r\n")

    def test_it_is_not_asked_for_ever(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as nobody:
            port = nobody.getsockname()[1]
        servers = bare(Servers)
        servers.ports = {"node-0": port}
        before, engine.ASK_S_MAX = engine.ASK_S_MAX, 0.1
        self.addCleanup(setattr, engine, "ASK_S_MAX", before)
        with self.assertRaisesRegex(LabError, "node-0 does not answer PING"):
            servers.ask_node("node-0", "PING")


class Looking(unittest.TestCase):
    def until(self, so_far) -> None:
        deadline = time.monotonic() + WAIT_S_MAX
        while not so_far():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_time_without_a_master_is_an_outage_and_not_a_waiter_that_is_stuck(self) -> None:
        servers = bare(Servers)
        there, looks = True, 0

        def look() -> bool:
            nonlocal looks
            looks += 1
            return there

        watcher = Lookout(servers, look)
        self.until(lambda: looks > 1)
        self.assertEqual(servers.history.ops(), [])
        was_there = engine.now_ns()
        there = False
        self.until(lambda: servers.history.ops() == ["AWAY_BEGIN"])
        self.assertLess(servers.history.lines[0][2], was_there + int(1e9), "from when one was last seen")
        there = True
        self.until(lambda: servers.history.ops() == ["AWAY_BEGIN", "AWAY_END"])
        self.assertEqual(servers.history.lines[0][1], servers.history.lines[1][1])
        watcher.end()
        self.assertEqual(servers.history.ops(), ["AWAY_BEGIN", "AWAY_END"])

    def test_a_replica_that_was_dead_and_had_to_confirm_each_grant_was_nobodys_fault(self) -> None:
        servers = bare(Sentinel)
        connected = [["127.0.0.1", "1", "0"], ["127.0.0.1", "2", "0"]]
        servers.try_node = lambda name, *words, seconds: ["master", 0, connected]
        servers.confirmed_by = 2
        self.assertTrue(servers.can_grant("node-0"))
        servers.try_node = lambda name, *words, seconds: ["master", 0, connected[:1]]
        self.assertFalse(servers.can_grant("node-0"), "what it cannot renew is lost")
        servers.confirmed_by = 0
        self.assertTrue(servers.can_grant("node-0"))

    def test_an_outage_of_one_master_of_several_is_one_of_its_names(self) -> None:
        servers = bare(Servers)
        watcher = Lookout(servers, lambda: False, lambda: 0b101)
        self.until(lambda: servers.history.ops())
        watcher.end()
        self.assertEqual(servers.history.lines[0][3], 0b101)

    def test_a_long_time_without_a_master_is_told(self) -> None:
        servers = bare(Servers)
        before, lookout.WORTH_A_NOTE_S = lookout.WORTH_A_NOTE_S, 0.0
        self.addCleanup(setattr, lookout, "WORTH_A_NOTE_S", before)
        watcher = Lookout(servers, lambda: False)
        self.until(lambda: servers.history.ops())
        watcher.end()
        self.assertEqual(servers.history.ops(), ["AWAY_BEGIN", "AWAY_END"])
        self.assertRegex(servers.notes[0], r"there was no master that could grant for .* s, .* had none at the end")


class WithoutServers(Sentinel):
    """What sentinels and servers say is what a test says."""

    def __init__(self):
        self.views: dict[str, tuple[int, str | None]] = {}
        self.roles: dict[str, str] = {}

    def _named_by(self, name):
        return self.views[name]

    def _view(self, name):
        return {}

    def try_node(self, name, *words, seconds=0.3):
        return [self.roles[name]] if words == ("ROLE",) and name in self.roles else None


class WhoIsMaster(unittest.TestCase):
    def setUp(self) -> None:
        self.servers = WithoutServers()
        self.servers.ports = {node: i for i, node in enumerate(SERVERS)}
        self.servers.roles = {"node-0": "master", "node-1": "slave", "node-2": "slave"}

    def say(self, *views: tuple[int, str | None]) -> None:
        self.servers.views = dict(zip(sentinel.SENTINELS, views))

    def test_whom_all_name_and_who_says_so_himself(self) -> None:
        self.say((1, "node-0"), (1, "node-0"), (1, "node-0"))
        self.assertEqual((self.servers._agreed(), self.servers._is_there()), ("node-0", True))

    def test_one_that_all_name_and_that_calls_itself_a_replica_is_none(self) -> None:
        self.say((1, "node-1"), (1, "node-1"), (1, "node-1"))
        self.assertEqual((self.servers._agreed(), self.servers._is_there()), (None, False))

    def test_while_they_disagree_clients_go_to_the_one_of_the_largest_epoch(self) -> None:
        self.say((1, "node-1"), (2, "node-0"), (1, "node-1"))
        self.assertEqual((self.servers._agreed(), self.servers._is_there()), (None, True))
        self.say((1, "node-0"), (2, "node-1"), (1, "node-0"))
        self.assertEqual((self.servers._agreed(), self.servers._is_there()), (None, False))

    def test_without_an_answer_there_is_none(self) -> None:
        self.say((-1, None), (-1, None), (-1, None))
        self.assertEqual((self.servers._agreed(), self.servers._is_there()), (None, False))

    def test_a_promotion_that_the_lab_itself_has_cut_off_is_said_again(self) -> None:
        said = []
        replicas = [["port", "1", "flags", "slave"], ["port", "2", "flags", "slave,promoted"]]

        def told(name, *words, **_):
            said.append((name, *words))
            return replicas if words[:2] == ("SENTINEL", "REPLICAS") else "OK"

        self.servers.try_node = told
        self.assertFalse(self.servers._promote_again())
        self.servers._view = lambda name: {"failover-state": "wait_promotion"} if name == "sentinel-1" else {}
        self.assertTrue(self.servers._promote_again())
        self.assertEqual(said[-2:], [("sentinel-1", "SENTINEL", "REPLICAS", "mymaster"), ("node-2", "REPLICAOF", "NO", "ONE")])

    def test_what_did_not_come_to_pass_is_told_with_what_everybody_said(self) -> None:
        self.say((1, "node-1"), (1, "node-1"), (1, "node-1"))
        with self.assertRaisesRegex(LabError, r"no master within 0 s; sentinel-0: .*node-2 \(2\): slave"):
            self.servers.until(lambda: False, "no master", 0.0)


class Failovers(unittest.TestCase):
    """Those that nobody has asked for."""

    def setUp(self) -> None:
        self.servers = WithoutServers()
        self.servers.ports = {node: i for i, node in enumerate(SERVERS)}
        self.servers.history, self.servers._seen = Notebook(), {}
        self.servers._follow = lambda node, master: None
        self.say(1, "node-0")
        self.servers._since = engine.now_ns()
        self.servers._known = self.servers._named(self.servers.master())

    def say(self, epoch: int, node: str) -> None:
        self.servers.views = {name: (epoch, node) for name in sentinel.SENTINELS}
        self.servers.roles = {each: "master" if each == node else "slave" for each in SERVERS}

    def noted(self) -> list[tuple[str, int, int]]:
        self.servers.look_back()
        return self.servers.history.lines

    def test_to_another_is_noted_once(self) -> None:
        self.assertEqual(self.noted(), [])
        self.say(2, "node-1")
        self.assertEqual(len(self.noted()), 1)
        self.assertEqual(len(self.noted()), 1)

    def test_there_and_back_between_two_looks_was_missed(self) -> None:
        self.assertEqual(self.noted(), [])
        self.say(3, "node-0")
        self.assertEqual(len(self.noted()), 1)
        self.assertEqual(len(self.noted()), 1)

    def test_there_and_back_since_a_fault_saw_its_master_was_missed(self) -> None:
        self.say(2, "node-1")
        self.assertEqual(self.servers.master(), "node-1")
        self.servers._all_follow = lambda master: True
        self.servers._settle("node-1")
        self.assertEqual(self.servers.history.lines, [], "it is the lab's own")
        self.say(3, "node-1")
        self.servers.masters()  # as another thread asks
        self.servers._settle("node-1")
        self.assertEqual(len(self.servers.history.lines), 1)

    def test_while_the_lab_looked_was_noted_from_after_it(self) -> None:
        began = []

        def named(name: str) -> tuple[int, str]:
            said = self.servers.views[name]
            if name == sentinel.SENTINELS[-1] and not began:
                began.append(engine.now_ns())
                self.say(2, "node-1")
                self.servers.roles = dict.fromkeys(SERVERS, "master")  # the old one does not know it yet
            return said

        self.servers._named_by = named
        self.assertEqual(self.noted(), [])
        self.assertLessEqual(self.noted()[0][2], began[0])

    def test_while_the_lab_looked_at_a_cluster_was_noted_from_after_it(self) -> None:
        servers = bare(Cluster)
        servers._since, servers._known = engine.now_ns(), {0: 1}
        began = []

        def holders() -> dict[int, int]:
            began.append(engine.now_ns())
            return {0: len(began)}

        servers._holders = holders
        servers.look_back()
        self.assertEqual(servers.history.ops(), [])
        servers.look_back()
        self.assertLessEqual(servers.history.lines[0][2], began[0])


class Revoking(unittest.TestCase):
    """Of a lease of etcd, whose holder is then excused."""

    def lost_by(self, error: Exception) -> list[str]:
        servers = bare(Etcd)
        servers.ports = {"node-0": 0}
        value = base64.b64encode(b"T1 host pid 7 label @1").decode()
        servers._try = lambda *_: {"kvs": [{"key": "", "value": value, "lease": "5"}]}

        def refuse(*_):
            raise error

        servers.ask_json = refuse
        servers.lease_revoke(random.Random(1))
        return servers.history.ops()

    def test_one_that_had_ended_before_is_no_loss(self) -> None:
        self.assertEqual(self.lost_by(LabError("answered with: etcdserver: requested lease not found")), [])

    def test_any_other_error_was_taken_for_one_that_was_not_done(self) -> None:
        self.assertEqual(self.lost_by(LabError("answered with: etcdserver: request timed out")), ["DATA_LOSS"])
        self.assertEqual(self.lost_by(TimeoutError()), ["DATA_LOSS"])


class ClockSetBack(unittest.TestCase):
    def setUp(self) -> None:
        self.noted: list[tuple[int, int]] = []
        self.server = Single.__new__(Single)
        self.server._forgotten = []
        add = lambda op, t_ns, how, **_: self.noted.append((t_ns, int(how)))
        self.server.history = types.SimpleNamespace(add=add)

    def test_a_name_forgotten_before_it_and_not_given_to_anybody_since_was_to_have_a_larger_token(self) -> None:
        self.server.lost(10, 9)
        self.assertEqual(self.noted, [(10, 0)])
        self.server._lost_tokens_too()
        self.assertEqual(self.noted, [(10, 0), (10, int(LostBy.TOKENS_TOO))])
        self.server._lost_tokens_too()
        self.assertEqual(len(self.noted), 2)

    def test_what_is_forgotten_behind_it_is_noted_once(self) -> None:
        self.server._shown_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) + 10**12
        self.server.lost(10, 9)
        self.server._lost_tokens_too()
        self.assertEqual(self.noted, [(10, int(LostBy.TOKENS_TOO))])


class Keeping(unittest.TestCase):
    """Histories of a run whose promises did not hold, or that has no verdict, are kept."""

    def left(self, keep: bool, error: BaseException | None) -> bool:
        lab = Lab.__new__(Lab)
        contextlib.ExitStack.__init__(lab)
        lab.keep, lab.folder = False, tempfile.mkdtemp(prefix="tyer-faults-test-")
        lab.engine = types.SimpleNamespace(notes=["they had no master"], keep=lambda folder: None)
        lab.callback(lab._leave_folder)
        lab.callback(lab._tell_of_servers)
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            lab.keep = keep
            lab.__exit__(type(error) if error else None, error, None)
        there = os.path.isdir(lab.folder)
        if there:
            os.rmdir(lab.folder)
        self.assertEqual(there, f"histories are in {lab.folder}" in said.getvalue())
        self.assertIn("they had no master", said.getvalue())
        return there

    def test_not_when_all_is_well(self) -> None:
        self.assertFalse(self.left(False, None))

    def test_when_promises_did_not_hold(self) -> None:
        self.assertTrue(self.left(True, None))

    def test_when_there_is_no_verdict(self) -> None:
        self.assertTrue(self.left(False, LabError("no verdict")))

    def test_what_was_done_around_a_breach_is_told(self) -> None:
        lab = Lab.__new__(Lab)
        lab._said = [(10.0, "long before"), (99.0, "before"), (100.5, "just after"), (200.0, "long after")]
        self.assertEqual(lab.said_around([100.0]), ["99.000: before", "100.500: just after"])

    def test_not_when_somebody_has_seen_enough(self) -> None:
        self.assertFalse(self.left(False, KeyboardInterrupt()))


if __name__ == "__main__":
    unittest.main()
