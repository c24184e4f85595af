#!/usr/bin/python3
"""tyer top, with real locks on the engine that TYER_KIND names."""

from __future__ import annotations

import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import Holder, Terminal, Watching, check_schema, tyer


class Top(harness.OnEngine):
    def setUp(self):
        self.base = f"{self.id().rsplit('.', maxsplit=1)[-1]}/"
        super().setUp()

    def hold(self, name: str, *words, **options) -> Holder:
        return super().hold(self.base + name, *words, **options)

    def wait_for(self, name: str, count: int = 1) -> list[Holder]:
        return super().wait_for(self.base + name, count)

    def looks(self, *words: str) -> Watching:
        return self.stack.enter_context(Watching(self.url, "top", self.base, "--json", "--every", "100ms", *words))

    def await_look(self, looks: Watching, right):
        """The first look that is right. Looks go on for ever, so this is what ends the wait for one that never is."""
        limit = time.monotonic() + harness.PATIENCE_S
        while True:
            seen = json.loads(looks.line())
            check_schema("top", seen)
            if right(seen):
                return seen
            self.assertLess(time.monotonic(), limit, f"no look was the expected one; the last: {seen}")

    def test_the_longest_queue_comes_first(self):
        for name in ("idle", "busy", "busier"):
            self.hold(name)
        self.wait_for("busy")
        self.wait_for("busier", 2)
        seen = self.await_look(self.looks(), lambda s: True)
        self.assertEqual([l["lock"]["name"] for l in seen["locks"]], [self.base + n for n in ("busier", "busy", "idle")])
        self.assertEqual((seen["held"], seen["waiting"], seen["not_renewed"], seen["ran_out"]), (3, 3, 0, 0))
        self.assertEqual(seen["turns_per_s"], 0, "who was there at the first look has not had a turn")
        self.assertGreater(seen["locks"][0]["longest_wait_ms"], 0)
        only = json.loads(tyer(self.url, "top", self.base, "--json", "--rows", "1", "--for", "0").stdout)
        self.assertEqual([l["lock"]["name"] for l in only["locks"]], [self.base + "busier"])

    def test_a_turn_is_counted(self):
        first = self.hold("a")
        second = self.wait_for("a")[0]
        looks = self.looks()
        self.await_look(looks, lambda s: s["waiting"] == 1)
        first.give_back()
        second.held()
        seen = self.await_look(looks, lambda s: s["turns_per_s"] > 0)
        self.assertEqual(seen["ran_out"], 0)
        self.assertEqual(seen["locks"][0]["turns_per_s"], seen["turns_per_s"])

    def test_a_holder_that_stands_still_is_not_renewed_and_runs_out(self):
        for ttl_ms in (3000, 12000):
            looks = self.looks()
            stopped = self.hold("a", ttl_ms=ttl_ms)
            self.await_look(looks, lambda s: s["held"] == 1 and s["not_renewed"] == 0)
            stopped.process.send_signal(signal.SIGSTOP)
            seen = self.await_look(looks, lambda s: s["not_renewed"] == 1 or s["ran_out"] == 1)
            if seen["not_renewed"] == 1:
                break
            # The machine itself stood still for the last part of the ttl: once more, with one that is longer.
        self.assertTrue(seen["locks"][0]["not_renewed"])
        seen = self.await_look(looks, lambda s: s["ran_out"] == 1)
        self.assertEqual((seen["not_renewed"], seen["held"]), (0, 0))

    def test_what_once_per_keeps_is_nobody_who_does_not_renew(self):
        tyer(self.url, "run", self.base + "nightly", "--once-per", "2s", "--", "true")
        looks = self.looks()
        seen = self.await_look(looks, lambda s: not s["locks"])  # the period is over
        self.assertEqual((seen["ran_out"], seen["not_renewed"]), (0, 0))

    def test_on_a_terminal_it_is_redrawn(self):
        self.hold("a")
        self.wait_for("a", 2)
        with Terminal(self.url, "top", self.base, "--every", "200ms", columns=120) as screen:
            text = screen.await_text("1 held, 2 waiting, 0.0 turns/s")
            self.assertRegex(text, r"NAME +WAITING +LONGEST +TURNS/S +STATE")
            self.assertIn("Ctrl-C ends", text)
            screen.type("\x03")
            self.assertEqual(screen.end(), harness.OK)

    def test_in_a_pipe_it_is_text(self):
        self.hold("a")
        text = tyer(self.url, "top", self.base, "--for", "0").stdout
        self.assertRegex(text, r"^\d\d:\d\d:\d\d  1 held, 0 waiting, 0.0 turns/s\n\nNAME ")

    def test_without_a_pause_it_asked_the_engine_without_end(self):
        looks = tyer(self.url, "top", self.base, "--json", "--every", "0", "--for", "1s").stdout.splitlines()
        self.assertLessEqual(len(looks), 12)

    def test_an_engine_that_is_away_is_told_and_it_goes_on(self):
        self.hold("a", ttl_ms=60000)
        looks = self.looks()
        self.await_look(looks, lambda s: s.get("held") == 1)
        with self.engine.paused():
            self.await_look(looks, lambda s: "does not answer" in s.get("why", ""))
        self.await_look(looks, lambda s: s.get("held") == 1)


if __name__ == "__main__":
    harness.main()
