#!/usr/bin/python3
"""The fault lab: what it does when a server dies, or loses its mind, without its doing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True

from bare_servers import WAIT_S_MAX, bare
from faults import deaths, engine, slowness, zk_views
from faults.children import LabError
from faults.deaths import Deaths
from faults.engine import Servers
from processes import Process


class Dying(unittest.TestCase):
    """Of servers that nobody has ended."""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="tyer-faults-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.children: list[subprocess.Popen] = []
        self.addCleanup(self.end_all)
        self.commands: list[tuple[str, ...]] = []
        before, deaths.engines = deaths.engines, self.tool
        self.addCleanup(setattr, deaths, "engines", before)
        self.servers = bare(Servers)
        self.servers.id = os.path.basename(self.folder)  # of no other test
        self.servers.nodes = [{"name": name, "dir": os.path.join(self.folder, name)} for name in ("node-0", "node-1")]
        self.pids: dict[str, Process] = {}
        for node in self.servers.nodes:
            os.mkdir(node["dir"])
            with open(os.path.join(node["dir"], "server.log"), "w", encoding="utf-8") as log:
                log.write(f"{node['name']} says its last\n")
            self.spawn(node["name"])

    def spawn(self, name: str) -> None:
        self.children.append(subprocess.Popen(["sleep", "60"]))
        self.pids[name] = Process.of(self.children[-1].pid)
        nodes = [{"name": name, "process": {"pid": p.pid, "start": p.start}} for name, p in self.pids.items()]
        path = os.path.join(self.folder, "instance.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump({"nodes": nodes}, file)
        os.replace(path + ".new", path)

    def end_all(self) -> None:
        for child in self.children:
            child.kill()
            child.wait()

    def tool(self, *words: str) -> str:
        with engine.intents.during(words):
            self.commands.append(words)
            self.spawn(words[2])
        return ""

    def watched(self) -> Deaths:
        self.servers.deaths = Deaths(self.servers, lambda words: None)
        self.addCleanup(self.servers.deaths.end)
        return self.servers.deaths

    def until(self, so_far) -> None:
        deadline = time.monotonic() + WAIT_S_MAX
        while not so_far():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_one_that_died_by_itself_stayed_dead_and_nobody_said_so(self) -> None:
        watcher = self.watched()
        watcher.look()
        alive = engine.now_ns()
        well: list[str] = []
        self.servers.is_well = lambda name: bool(well)
        self.pids["node-1"].kill()
        self.until(lambda: self.commands)
        self.assertEqual(self.commands, [("restart", self.servers.id, "node-1")])
        self.assertEqual(self.servers.history.ops(), ["AWAY_BEGIN"])
        well.append("yes")
        again = engine.now_ns()
        self.until(lambda: self.servers.history.ops() == ["AWAY_BEGIN", "AWAY_END"])
        begin, end = self.servers.history.lines
        self.assertEqual(begin[1], end[1])
        self.assertGreater(begin[2], alive - int(1e9), "from when it was last seen")
        self.assertGreaterEqual(end[2], again, "until it is well again")
        self.assertRegex(self.servers.notes[0], r"node-1 died by itself at .*\nnode-1 says its last")
        watcher.end()
        self.assertEqual(len(self.servers.history.lines), 2)
        self.assertEqual(len(self.commands), 1)
        self.assertIsNone(self.servers.problem)

    def test_one_that_the_lab_has_killed_is_its_own_affair(self) -> None:
        watcher = self.watched()
        with engine.intents.during(("kill", self.servers.id, "node-0")):
            self.pids["node-0"].kill()
            self.assertEqual(watcher.look(), 0)
        self.assertEqual(watcher.look(), 0)
        with engine.intents.during(("restart", self.servers.id, "node-0")):
            self.assertEqual(watcher.look(), 0)
            self.spawn("node-0")
        self.assertEqual(watcher.look(), 0)
        self.assertEqual((self.commands, self.servers.history.lines), ([], []))
        self.pids["node-0"].kill()
        self.assertEqual(watcher.look(), 1, "what the lab had done to it before is no reason")

    def test_while_all_are_killed_nobody_has_died_by_itself(self) -> None:
        watcher = self.watched()
        with engine.intents.during(("kill", self.servers.id)):
            self.pids["node-0"].kill()
            self.pids["node-1"].kill()
        self.assertEqual(watcher.look(), 0)

    def test_one_that_has_lost_what_it_had_is_no_verdict(self) -> None:
        self.servers.keeps_all = False
        self.watched()
        self.pids["node-0"].kill()
        self.until(lambda: self.servers.problem)
        self.assertEqual(self.commands, [])
        with self.assertRaisesRegex(LabError, "node-0 died by itself, and has lost what it had"):
            self.servers.raise_problem()

    def test_one_that_dies_for_ever_was_started_for_ever(self) -> None:
        watcher = self.watched()
        for _ in range(deaths.DEATHS_MAX):
            self.pids["node-0"].kill()
            watcher.look()
        self.pids["node-0"].kill()
        self.until(lambda: self.servers.problem)
        self.assertEqual(len(self.commands), deaths.DEATHS_MAX)

    def act(self, what) -> None:
        self.servers.busy = threading.Lock()
        self.assertTrue(self.servers.start(what))
        self.servers._thread.join()

    def test_what_was_under_way_when_one_died_was_the_end_of_the_run(self) -> None:
        self.watched()
        healed: list[bool] = []
        self.servers.all_well_again = lambda: healed.append(True)

        def what() -> None:
            self.servers.away_begins()
            self.pids["node-0"].kill()
            raise LabError("node 'node-0' is not running")

        self.act(what)
        self.assertEqual((healed, self.servers.problem, self.servers._open), ([True], None, {}))
        self.assertEqual(sorted(self.servers.history.ops()), ["AWAY_BEGIN", "AWAY_BEGIN", "AWAY_END", "AWAY_END"])

    def test_what_fails_while_none_died_is_no_verdict(self) -> None:
        self.watched()

        def what() -> None:
            raise LabError("nobody leads")

        self.act(what)
        with self.assertRaisesRegex(LabError, "nobody leads"):
            self.servers.raise_problem()


class AllAreSlow(unittest.TestCase):
    """In milliseconds: asked, answered."""

    def gaps(self, *answers: tuple[int, int], good: bool = True) -> list[tuple[int, int]]:
        gaps, found = slowness.Gaps(0), []
        for asked, answered in sorted(answers, key=lambda answer: answer[1]):
            found.append(gaps.heard(asked * 1_000_000, answered * 1_000_000, good))
        return [(gap[0] // 1_000_000, gap[1] // 1_000_000) for gap in found if gap]

    def test_three_that_take_a_quarter_of_a_second_each_in_turns_were_taken_for_quick_ones(self) -> None:
        in_turns = [(at, at + 250) for at in range(100, 2000, 90)]
        self.assertEqual(self.gaps((10, 20), *in_turns, (2000, 2010)), [(100, 2000)])

    def test_one_that_is_slow_while_another_is_not_excuses_nobody(self) -> None:
        quick = [(at, at + 5) for at in range(0, 2000, 100)]
        self.assertEqual(self.gaps(*quick, *[(at + 1, at + 450) for at in range(0, 1600, 500)]), [])

    def test_where_nobody_asked_nobody_was_slow(self) -> None:
        self.assertEqual(self.gaps((0, 5), (1500, 1505)), [])

    def test_what_fails_is_no_answer(self) -> None:
        gaps = slowness.Gaps(0)
        self.assertIsNone(gaps.heard(100_000_000, 101_000_000, False))
        self.assertEqual(gaps.end(900_000_000), (100_000_000, 900_000_000))


class Views(unittest.TestCase):
    """Of ZooKeeper's servers."""

    def differ(self, *views: dict[str, set[str]], seconds: float = 5.0) -> dict[str, set[str]]:
        before, zk_views.LOOK_EVERY_S = zk_views.LOOK_EVERY_S, 0.0
        self.addCleanup(setattr, zk_views, "LOOK_EVERY_S", before)
        said = iter(views)
        return zk_views.differences(lambda: next(said, views[-1]), seconds)

    def test_what_one_has_for_good_and_another_has_not_was_nobodys_fault(self) -> None:
        odd = {"a": {"stays", "shared"}, "b": {"shared"}, "c": {"stays", "shared"}}
        found = self.differ({"a": {"goes", *odd["a"]}, "b": odd["b"], "c": odd["c"]}, odd, seconds=0.01)
        self.assertEqual(found, {"a": {"stays"}, "c": {"stays"}})
        self.assertEqual(zk_views.told(found)[0], "a has 1 nodes that another server has not: stays")

    def test_what_is_on_its_way_to_another_is_no_difference(self) -> None:
        self.assertEqual(self.differ({"a": {"new"}, "b": set()}, {"a": {"new"}, "b": {"new"}}), {})
        self.assertEqual(self.differ({"a": {"gone"}, "b": set()}, {"a": set(), "b": set()}), {})

    def test_threads_that_ended_by_an_error_of_their_own_are_counted(self) -> None:
        log = "[x] ERROR C - Severe unrecoverable error, from thread : SyncThread:2\njava.lang.X\n" * 2
        self.assertEqual(zk_views.ended_threads(log), {"SyncThread": 2})

    def test_of_a_log_that_is_kept_the_room_that_was_made_is_not(self) -> None:
        with tempfile.TemporaryDirectory(prefix="tyer-faults-test-") as folder:
            os.mkdir(os.path.join(folder, "version-2"))
            with open(os.path.join(folder, "version-2", "log.100000001"), "wb") as log:
                log.write(b"ZKLG" + b"\0" * 5 + b"x" + b"\0" * 100)
            zk_views.copy_written(folder, os.path.join(folder, "node-0"))
            with open(os.path.join(folder, "node-0.log.100000001"), "rb") as copy:
                self.assertEqual(copy.read(), b"ZKLG" + b"\0" * 5 + b"x")


if __name__ == "__main__":
    unittest.main()
