#!/usr/bin/python3
"""What tyer inherits from whoever starts it: signals that are ignored, and a /proc that is not its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import FAILED, TYER, Engine

VERBS = ("run", "try", "elect")
OTHERS_PROC = ["unshare", "--pid", "--fork"]  # a PID namespace of its own, and the /proc of the one around it


class StartedOddly(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.url = stack.enter_context(Engine("redis")).url

    def tyer(self, *words: str, before: list[str]) -> subprocess.CompletedProcess:
        return subprocess.run([*before, TYER, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              env=harness.environment(self.url), start_new_session=True, check=False)


class IgnoredSignals(StartedOddly):
    def test_the_end_of_the_command_was_never_noticed_where_sigchld_is_ignored(self):
        for verb in VERBS:
            with self.subTest(verb):
                done = self.tyer(verb, f"child-{verb}", "--", "sh", "-c", "exit 7", before=["env", "--ignore-signal=CHLD"])
                self.assertEqual(done.returncode, 7, done.stderr)

    def test_the_command_was_not_given_what_its_caller_ignores(self):
        ignoring = ["env", "--ignore-signal=PIPE", "--ignore-signal=CHLD", "--ignore-signal=USR1"]
        ignored = ["grep", "SigIgn", "/proc/self/status"]
        outside = subprocess.run([*ignoring, *ignored], capture_output=True, text=True, check=True).stdout
        inside = self.tyer("run", "ignored", "--", *ignored, before=ignoring)
        self.assertEqual(inside.stdout, outside, inside.stderr)


@unittest.skipIf(subprocess.run([*OTHERS_PROC, "true"], capture_output=True, check=False).returncode,
                 "no PID namespace can be made here")
class OthersProc(StartedOddly):
    def test_descendants_were_looked_for_in_the_proc_of_another_namespace(self):
        for verb in VERBS:
            with self.subTest(verb):
                done = self.tyer(verb, f"proc-{verb}", "--", "echo", "started", before=OTHERS_PROC)
                self.assertEqual((done.returncode, done.stdout), (FAILED, ""))
                self.assertIn("another PID namespace", done.stderr)
                self.assertIn("--without-proc", done.stderr)

    def test_others_were_signalled_by_the_numbers_of_another_namespace(self):
        done = self.tyer("run", "numbers", "--without-proc", "--", "sh", "-c", "setsid sleep 6 & sleep 0.2; exit 5",
                         before=OTHERS_PROC)
        self.assertEqual(done.returncode, 5, done.stderr)


if __name__ == "__main__":
    harness.main()
