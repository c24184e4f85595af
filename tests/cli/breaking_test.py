#!/usr/bin/python3
"""break, on the engine that TYER_KIND names."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import Holder, Terminal, tyer, tyer_json

REASON = ("--reason", "rollback")


class Breaking(harness.OnEngine):
    def setUp(self):
        self.name = harness.fresh_name()
        super().setUp()

    def hold(self, *words, **options) -> Holder:
        return super().hold(self.name, *words, **options)

    def test_there_must_be_a_reason(self):
        self.assertIn("--reason", tyer(self.url, "break", self.name, code=harness.USAGE).stderr)

    def test_a_free_lock_cannot_be_broken(self):
        tyer(self.url, "break", self.name, *REASON, "--yes", code=harness.NO)
        told = tyer_json(self.url, "break", self.name, *REASON, "--yes", code=harness.NO)
        self.assertEqual(told["holders"], [])

    def test_without_a_terminal_it_must_be_meant(self):
        holder = self.hold()
        self.assertIn("--yes", tyer(self.url, "break", self.name, *REASON, "--now", code=harness.USAGE).stderr)
        holder.give_back()  # still its own

    def test_one_who_listens_gives_it_back(self):
        holder = self.hold(polite=True)
        told = tyer_json(self.url, "break", self.name, *REASON, "--yes")
        self.assertEqual([h["outcome"] for h in told["holders"]], ["gave_back"])
        self.assertEqual(told["asked"], 1)
        holder.await_line("released")

    def test_one_who_does_not_listen_is_not_robbed(self):
        holder = self.hold()
        done = tyer(self.url, "break", self.name, *REASON, "--yes", "--timeout", "700ms", code=harness.NOT_ACQUIRED)
        self.assertIn("--now", done.stderr)
        holder.await_line("asked")
        holder.give_back()

    def test_what_a_min_hold_keeps_was_told_as_a_holder_that_goes_on_renewing(self):
        holder = self.hold("min_hold")
        holder.give_back()
        holder.process.wait(timeout=harness.PATIENCE_S)
        done = tyer(self.url, "break", self.name, *REASON, "--yes", "--timeout", "2s", code=harness.NOT_ACQUIRED)
        self.assertIn("no renewal was seen", done.stderr)
        self.assertIn("min_hold", done.stderr)
        self.assertNotIn("still holds it", done.stdout)
        tyer(self.url, "break", self.name, *REASON, "--yes", "--now")
        tyer(self.url, "show", self.name, code=harness.NO)

    def test_one_who_renews_is_told_as_one_who_does(self):
        self.hold(ttl_ms=2000)
        done = tyer(self.url, "break", self.name, *REASON, "--yes", "--timeout", "5s", code=harness.NOT_ACQUIRED)
        self.assertIn("keeps renewing", done.stderr)

    def test_with_now_it_is_taken(self):
        holder = self.hold()
        told = tyer_json(self.url, "break", self.name, *REASON, "--yes", "--now")
        (broken,) = told["holders"]
        self.assertEqual((broken["outcome"], broken["entry"]["id"]), ("evicted", holder.id))
        holder.await_line("lost")
        tyer(self.url, "show", self.name, code=harness.NO)

    def test_with_now_the_holder_was_asked_before_the_lock_was_taken(self):
        """Whether it had gone by itself, or had lost the lock, was a matter of luck."""
        holder = self.hold()
        self.assertEqual(tyer_json(self.url, "break", self.name, *REASON, "--yes", "--now")["asked"], 0)
        holder.await_line("lost")

    def test_the_lease_of_a_dead_holder_is_waited_for(self):
        holder = self.hold(ttl_ms=2000)
        holder.process.kill()
        told = tyer_json(self.url, "break", self.name, *REASON, "--yes")
        self.assertTrue(told["broken"])

    def test_of_several_one_can_be_named(self):
        first, second = self.hold("shared"), self.hold("shared")
        told = tyer_json(self.url, "break", self.name, *REASON, "--yes", "--now", "--id", first.id)
        self.assertEqual([h["entry"]["id"] for h in told["holders"]], [first.id])
        first.await_line("lost")
        second.give_back()

    def test_a_person_is_asked_and_may_say_no(self):
        holder = self.hold()
        with Terminal(self.url, "break", self.name, *REASON, "--now") as terminal:
            terminal.await_text("[y/N]")
            self.assertIn(f"pid {holder.process.pid}", terminal.text())
            terminal.type("n\n")
            self.assertEqual(terminal.end(), harness.REFUSED)
        holder.give_back()

    def test_ctrl_c_at_the_question_is_no(self):
        holder = self.hold()
        with Terminal(self.url, "break", self.name, *REASON, "--now") as terminal:
            terminal.await_text("[y/N]")
            terminal.type("\x03")
            self.assertEqual(terminal.end(), 130)
        holder.give_back()

    def test_a_person_is_asked_and_may_say_yes(self):
        holder = self.hold()
        with Terminal(self.url, "break", self.name, *REASON, "--now") as terminal:
            terminal.await_text("[y/N]")
            terminal.type("y\n")
            self.assertEqual(terminal.end(), 0)
        holder.await_line("lost")

    def test_a_person_sees_that_it_is_waited_for(self):
        holder = self.hold()
        with Terminal(self.url, "break", self.name, *REASON, "--yes") as terminal:
            terminal.await_text(f"for '{self.name}', waiting")
            holder.give_back()
            self.assertEqual(terminal.end(), 0)
            self.assertIn("no longer holds it", terminal.text())


if __name__ == "__main__":
    harness.main()
