#!/usr/bin/python3
"""wait, on the engine that TYER_KIND names."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import Holder, Terminal, tyer, tyer_json


class Waiting(harness.OnEngine):
    def setUp(self):
        self.name = harness.fresh_name()
        super().setUp()

    def hold(self) -> Holder:
        return super().hold(self.name)

    def test_a_free_lock_is_not_waited_for(self):
        tyer(self.url, "wait", self.name)
        self.assertEqual(tyer_json(self.url, "wait", self.name)["free"], True)

    def test_with_no_time_it_only_looks(self):
        tyer(self.url, "wait", self.name, "--timeout", "0")
        holder = self.hold()
        done = tyer(self.url, "wait", self.name, "--timeout", "0", code=harness.NOT_ACQUIRED)
        self.assertIn(f"pid {holder.process.pid}", done.stderr)

    def test_the_time_has_an_end(self):
        self.hold()
        told = tyer_json(self.url, "wait", self.name, "--timeout", "300ms", code=harness.NOT_ACQUIRED)
        self.assertFalse(told["free"])
        self.assertGreaterEqual(told["waited_ms"], 300)

    def test_an_engine_that_falls_silent_meanwhile_is_no_lock_that_is_held(self):
        self.hold()
        words = f"waiting for '{self.name}' to be free, held by"
        for patience in harness.Patience.longer_and_longer():
            with Terminal(self.url, "wait", self.name, "--timeout", f"{patience.seconds}s") as terminal:
                harness.eventually(lambda: terminal.has_ended() or words in terminal.text(), what="the wait")
                with self.engine.paused():
                    if patience.is_worn():
                        continue
                    return self.assertEqual(terminal.end(patience.seconds + harness.PATIENCE_S), harness.UNREACHABLE)

    def test_a_wait_in_a_pipe_said_nothing_while_the_engine_was_away(self):
        self.hold()
        words = [harness.TYER, "wait", self.name, "--timeout", "60s"]
        for _ in range(5):  # nobody can see from outside whether it has looked for the first time
            with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=harness.environment(self.url)) as wait:
                self.addCleanup(wait.kill)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    wait.wait(0.5)
                with self.engine.paused():
                    said = wait.stderr.readline()
                if "not known" not in said:
                    continue
                self.assertIn(f"it is not known whether '{self.name}' is free: the engine does not answer", said)
                self.assertIn("the engine answers again", wait.stderr.readline())
                return wait.kill()
        self.fail(f"it said: {said}")

    def test_a_person_is_told_what_is_waited_for_and_then_it_is_free(self):
        holder = self.hold()
        with Terminal(self.url, "wait", self.name) as terminal:
            terminal.await_text(f"waiting for '{self.name}' to be free, held by")
            holder.give_back()
            self.assertEqual(terminal.end(), 0)
            self.assertEqual(terminal.text(), "")  # the line is taken away

    def test_it_can_be_interrupted(self):
        self.hold()
        with Terminal(self.url, "wait", self.name) as terminal:
            terminal.await_text("waiting for")
            terminal.child.kill(signal.SIGINT)
            self.assertEqual(terminal.end(), 130)


if __name__ == "__main__":
    harness.main()
