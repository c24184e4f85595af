#!/usr/bin/python3
"""tyer deadlocks, with real processes that wait for each other, on the engine that TYER_KIND names and over two of them."""

from __future__ import annotations

import itertools
import os
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import KIND, TYER, Engine, Holder, Lines, check_schema, environment, eventually, tyer, tyer_json

NUMBERS = itertools.count(1)


class Entangled(Lines):
    """Somebody else's program, which has the first lock and is going to want the second."""

    def __init__(self, first: tuple[str, str, str], second: tuple[str, str, str]):
        super().__init__([os.environ["TYER_ENTANGLED"], *first, *second], environment(None))
        self.first, self.second = first, second
        self.await_line("held")

    def want_the_second(self) -> None:
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.await_line("waits")


class Deadlocks(harness.OnEngine):
    def setUp(self):
        super().setUp()
        self.base = f"{next(NUMBERS)}/"

    def lock(self, name: str, kind: str = "mutex", url: str | None = None) -> tuple[str, str, str]:
        return url or self.url, kind, self.base + name

    def entangle(self, *pairs) -> list[Entangled]:
        """Each has its first lock, and then all want their second."""
        all_of_them = [self.stack.enter_context(Entangled(*pair)) for pair in pairs]
        for one in all_of_them:
            one.want_the_second()
            url, _, name = one.second
            eventually(lambda u=url, n=name, p=one.process.pid: self.waits(u, n, p), what=f"{name} waited for")
        return all_of_them

    def waits(self, url: str, name: str, pid: int) -> bool:
        return any(w["owner"]["pid"] == pid for w in tyer_json(url, "show", name)["waiters"])

    def deadlocks(self, *words, code=harness.NO) -> list[list[int]]:
        """The pids of each circle, the smallest first."""
        found = tyer_json(self.url, "deadlocks", self.base, "--apart", "100ms", *words, code=code)
        check_schema("deadlocks", found)
        circles = [[step["waits"]["owner"]["pid"] for step in c["processes"]] for c in found["deadlocks"]]
        return [c[c.index(min(c)):] + c[:c.index(min(c))] for c in circles]

    @staticmethod
    def circle(processes: list[Entangled]) -> list[int]:
        pids = [p.process.pid for p in processes]
        return pids[pids.index(min(pids)):] + pids[:pids.index(min(pids))]

    def test_contention_is_no_deadlock(self):
        a, b, c = (self.lock(n) for n in "abc")
        self.stack.enter_context(Holder(self.url, b[2])).held()
        self.entangle((a, b), (c, a))
        self.assertEqual(self.deadlocks(code=harness.OK), [])
        self.assertEqual(tyer(self.url, "deadlocks", self.base, "--apart", "100ms").stdout[:18], "no deadlock found;")

    def test_three_processes_in_a_circle(self):
        a, b, c = (self.lock(n) for n in "abc")
        stuck = self.entangle((a, b), (b, c), (c, a))
        self.entangle((self.lock("d"), a))  # waits for them, and is not one of them
        self.assertEqual(self.deadlocks(), [self.circle(stuck)])

    def test_two_circles_at_once(self):
        a, b, c, d = (self.lock(n) for n in "abcd")
        first, second = self.entangle((a, b), (b, a)), self.entangle((c, d), (d, c))
        self.assertCountEqual(self.deadlocks(), [self.circle(first), self.circle(second)])

    def test_a_reader_behind_a_writer_that_waits_for_the_reader(self):
        read, write, other = self.lock("a", "shared"), self.lock("a"), self.lock("b")
        stuck = self.entangle((read, other), (other, write))
        self.assertEqual(self.deadlocks(), [self.circle(stuck)])

    def test_permits_are_waited_for_as_long_as_one_holder_is_not_stuck(self):
        permit, b = self.lock("a", "permit:2"), self.lock("b")
        other = self.stack.enter_context(Holder(self.url, permit[2], "permits:1/2")).held()
        self.entangle((permit, b), (b, permit))
        self.assertEqual(self.deadlocks(code=harness.OK), [], "the other permit comes back some day")
        self.assertTrue(other.process.poll() is None)

    def test_permits_that_are_all_with_those_who_are_stuck(self):
        permit, b = self.lock("a", "permit:1"), self.lock("b")
        stuck = self.entangle((permit, b), (b, permit))
        self.assertEqual(self.deadlocks(), [self.circle(stuck)])

    def test_the_text_says_who_waits_for_what(self):
        a, b = self.lock("a"), self.lock("b")
        stuck = self.entangle((a, b), (b, a))
        text = tyer(self.url, "deadlocks", self.base, "--apart", "100ms", code=harness.NO).stdout
        self.assertTrue(text.startswith("deadlock of 2 processes\n"), text)
        for one in stuck:
            self.assertIn(f"pid {one.process.pid} clerk", text)
            self.assertIn(f"waits for '{one.second[2]}'\n    exclusive, for ", text)
        self.assertIn("in entangled.cpp:", text)

    def test_the_command_that_was_advised_was_refused(self):
        a, b = self.lock("a"), self.lock("b")
        self.entangle((a, b), (b, a))
        text = tyer(self.url, "deadlocks", self.base, "--apart", "100ms", code=harness.NO).stdout
        (line,) = [one.strip() for one in text.splitlines() if "tyer break" in one]
        tyer(self.url, *shlex.split(line)[1:], "--yes")
        eventually(lambda: self.deadlocks(code=None) == [], what="the end of the deadlock")

    def test_the_command_that_was_advised_was_without_the_prefix(self):
        url = self.url + ("&" if "?" in self.url else "?") + "prefix=shop:"
        a, b = self.lock("a", url=url), self.lock("b", url=url)
        self.entangle((a, b), (b, a))
        text = tyer(self.url, "--prefix", "shop:", "deadlocks", self.base, "--apart", "100ms", code=harness.NO).stdout
        (line,) = [one.strip() for one in text.splitlines() if "tyer --prefix shop: break" in one]
        tyer(self.url, *shlex.split(line)[1:], "--yes")
        eventually(lambda: self.deadlocks("--prefix", "shop:", code=None) == [], what="the end of the deadlock")

    def run_inside(self, outer: str, inner: str, wait: str = "100s") -> subprocess.Popen:
        """A `tyer run` that has one lock, and a script in it that wants another once it is told to."""
        script = 'echo held; read go; exec "$0" run --wait "$1" "$2" -- true'
        child = subprocess.Popen([TYER, "run", self.base + outer, "--", "sh", "-c", script, TYER, wait, self.base + inner],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(self.url))
        self.stack.callback(child.communicate)
        self.stack.callback(child.terminate)
        self.assertEqual(child.stdout.readline(), "held\n")
        return child

    def test_scripts_that_wait_for_each_other_were_no_deadlock_since_the_inner_tyer_run_waits_and_the_outer_holds(self):
        scripts = [self.run_inside("a", "b"), self.run_inside("b", "a")]
        for one, name in zip(scripts, "ba"):
            one.stdin.write("\n")
            one.stdin.flush()
            eventually(lambda n=name: tyer_json(self.url, "show", self.base + n)["waiting"] == 1, what="a waiter")
        (circle,) = self.deadlocks()
        self.assertEqual(len(circle), 2)
        text = tyer(self.url, "deadlocks", self.base, "--apart", "100ms", code=harness.NO).stdout
        holder = tyer_json(self.url, "show", self.base + "a")["holders"][0]["owner"]["pid"]
        self.assertRegex(text, rf"it is held by \S+ pid {holder}, inside whose command is\n")

    def test_a_script_that_takes_its_own_lock_waited_for_itself(self):
        script = self.run_inside("a", "a")
        _, told = script.communicate("\n", timeout=harness.PATIENCE_S)
        self.assertEqual(script.returncode, harness.USAGE, told)
        self.assertIn("it would wait for itself", told)

    def test_what_is_inside_may_share_what_the_outer_shares_and_try_what_it_has(self):
        name = self.base + "a"
        tyer(self.url, "run", "--shared", name, "--", TYER, "run", "--shared", "--wait", "100s", name, "--", "true")
        tyer(self.url, "run", "--permits", "1/2", name, "--", TYER, "run", "--permits", "1/2", "--wait", "100s", name, "--", "true")
        tyer(self.url, "run", name, "--", TYER, "try", name, "--", "true", code=harness.NOT_ACQUIRED)
        told = tyer(self.url, "run", "--permits", "1/2", name, "--", TYER, "run", "--permits", "2/2", name, "--", "true", code=harness.USAGE)
        self.assertIn("it would wait for itself", told.stderr)

    def test_the_picture_is_an_svg_with_every_process_and_lock(self):
        a, b, c = (self.lock(n) for n in ("a & b", "<b>", "c"))
        stuck = self.entangle((a, b), (b, c), (c, a))
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "d.svg")
            self.deadlocks("--picture", file)
            text = " ".join(e.text or "" for e in xml.etree.ElementTree.parse(file).getroot().iter())
        for one in stuck:
            self.assertIn(f"pid {one.process.pid}", text)
        for name in ("a & b", "<b>", "c"):
            self.assertIn(self.base + name, text)

    def test_a_circle_over_two_engines(self):
        with Engine("etcd" if KIND == "redis" else "redis") as other:
            a, b, c = self.lock("a"), self.lock("b", url=other.url), self.lock("c")
            stuck = self.entangle((a, b), (b, c), (c, a))
            self.assertEqual(self.deadlocks(code=harness.OK), [], "half of it is elsewhere")
            self.assertEqual(self.deadlocks("--also", other.url), [self.circle(stuck)])
            text = tyer(self.url, "deadlocks", self.base, "--apart", "100ms", "--also", other.url, code=harness.NO).stdout
            self.assertIn(f"'{self.base}b' at {other.url.split('?')[0]}\n", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            self.assertRegex(text, r"from its holder\nat \S+:\n  tyer (--url \S+ )?break \S+ --now")

    def test_the_command_that_was_advised_was_for_the_first_engine(self):
        with Engine("etcd" if KIND == "redis" else "redis") as other:
            a, b = self.lock("a", url=other.url), self.lock("b", url=other.url)
            self.entangle((a, b), (b, a))
            text = tyer(self.url, "deadlocks", self.base, "--apart", "100ms", "--also", other.url, code=harness.NO).stdout
            (line,) = [one.strip() for one in text.splitlines() if " break " in one]
            tyer(self.url, *shlex.split(line)[1:], "--yes")
            eventually(lambda: self.deadlocks("--also", other.url, code=None) == [], what="the end of the deadlock")

    def test_the_other_engine_was_looked_at_with_another_prefix_and_there_was_no_deadlock(self):
        with Engine("etcd" if KIND == "redis" else "redis") as other, tempfile.TemporaryDirectory() as folder:
            mine, its = (url + ("&" if "?" in url else "?") + "prefix=shop:" for url in (self.url, other.url))
            a, b = self.lock("a", url=mine), self.lock("b", url=its)
            stuck = [self.circle(self.entangle((a, b), (b, a)))]
            self.assertEqual(self.deadlocks("--prefix", "shop:", "--also", other.url), stuck)
            self.assertEqual(self.deadlocks("--prefix", "shop:", "--also", its), stuck)
            config = os.path.join(folder, "config")
            with open(config, "w", encoding="utf-8") as file:
                file.write(f"url.other = {other.url}\nprefix = shop:\n")
            self.assertEqual(self.deadlocks("--config", config, "--also", "other"), stuck)
            self.assertEqual(self.deadlocks("--prefix", "shop:", "--also", other.url + ("&" if "?" in other.url else "?") + "prefix=web:", code=harness.OK), [])

    def test_what_is_wrong_with_the_other_url_did_not_say_which_url_that_is(self):
        done = tyer(self.url, "deadlocks", "--also", "redis://joe:s3cr3t@127.0.0.1:x", code=harness.USAGE)
        self.assertIn("It comes from --also.", done.stderr)
        self.assertNotIn("s3cr3t", done.stderr)


if __name__ == "__main__":
    harness.main()
