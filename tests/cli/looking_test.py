#!/usr/bin/python3
"""ls, show and watch, on the engine that TYER_KIND names."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import KIND, Terminal, Watching, check_schema, tyer, tyer_json

QUEUES = KIND != "redlock"  # which has no queue, no readers and no permits
ESCAPE = "\x1b"


class Looking(harness.OnEngine):
    def setUp(self):
        self.name = f"order/{self.id().rsplit('.', maxsplit=1)[-1]}"
        super().setUp()

    # --- show

    def test_a_free_lock_is_no(self):
        done = tyer(self.url, "show", self.name, code=harness.NO)
        self.assertTrue(done.stdout.startswith(f"{self.name}  free\n"), done.stdout)
        shown = tyer_json(self.url, "show", self.name, code=harness.NO)
        self.assertEqual((shown["state"], shown["holders"], shown["waiters"]), ("free", [], []))

    def test_a_name_that_was_mistyped_was_told_to_be_free_and_no_more(self):
        self.hold("invoice/4711")
        engine = self.engine.shown
        for typed in ("invoice/4712", "invoice4711", "Invoice/4711", "4711"):
            with self.subTest(typed):
                text = tyer(self.url, "show", typed, code=harness.NO).stdout
                wanted = f"{typed}  free\n\n  engine    {engine}\n  prefix    tyer:\n  near      invoice/4711 is held\n"
                self.assertIn(wanted, text)
        text = tyer(self.url, "show", "nothing of the kind", code=harness.NO).stdout
        self.assertNotIn("near", text)
        shown = tyer_json(self.url, "show", "invoice/4711", "--prefix", "elsewhere:", code=harness.NO)
        self.assertEqual((shown["engine"], shown["prefix"], shown["near"]), (engine, "elsewhere:", []))
        shown = tyer_json(self.url, "show", "invoice/471", code=harness.NO)
        self.assertEqual([l["name"] for l in shown["near"]], ["invoice/4711"])

    def test_a_protocol_that_the_url_lacks_or_has_was_not_shown(self):
        if KIND != "redis":
            self.skipTest("of Redisson")
        shown = tyer_json(self.url + "?protocol=redisson", "show", "order/42", code=harness.NO)
        self.assertTrue(shown["engine"].endswith("?protocol=redisson"), shown["engine"])
        self.assertNotIn("protocol", tyer(self.url, "show", "order/42", code=harness.NO).stdout)

    def test_any_name_of_a_letter_was_near_any_other(self):
        self.hold("b")
        self.assertNotIn("near", tyer(self.url, "show", "A", code=harness.NO).stdout)
        self.assertIn("near      b is held", tyer(self.url, "show", "B", code=harness.NO).stdout)

    def test_a_holder_is_shown_with_all_it_says(self):
        holder = self.hold(self.name, note="10.0.0.7:8080")
        shown = tyer_json(self.url, "show", self.name)
        (entry,) = shown["holders"]
        self.assertEqual(entry["token"], holder.token)
        self.assertEqual(entry["id"], holder.id)
        self.assertEqual(entry["mode"], "exclusive")
        self.assertGreater(entry["remaining_ms"], 1000)
        self.assertEqual(entry["held_ms"] is None, KIND == "etcd")
        self.assertEqual(entry["owner"]["pid"], holder.process.pid)
        self.assertEqual(entry["owner"]["label"], "shop")
        self.assertEqual(entry["owner"]["note"], "10.0.0.7:8080")
        self.assertRegex(entry["owner"]["site"], r"^holder\.cpp:\d+$")
        text = tyer(self.url, "show", self.name).stdout
        for word in (f"pid {holder.process.pid} shop", "holder.cpp:", holder.token, holder.id, "10.0.0.7:8080", "ago"):
            self.assertIn(word, text)

    @unittest.skipUnless(QUEUES, "no queue")
    def test_the_queue_is_shown_in_its_order(self):
        self.hold(self.name)
        self.wait_for(self.name, 2)
        shown = tyer_json(self.url, "show", self.name)
        self.assertEqual([w["place"] for w in shown["waiters"]], [1, 2])
        self.assertEqual(shown["waiting"], 2)
        text = tyer(self.url, "show", self.name).stdout
        self.assertIn("held, 2 waiting", text)

    @unittest.skipUnless(QUEUES, "neither readers nor permits")
    def test_readers_and_permits(self):
        for _ in range(5):
            self.hold(self.name, "shared")
        self.hold(self.name + "/permits", "permits:2/3")
        self.assertIn("shared by 5", tyer(self.url, "show", self.name).stdout)
        self.assertIn("slots 0, 1", tyer(self.url, "show", self.name + "/permits").stdout)
        self.assertEqual(tyer_json(self.url, "show", self.name + "/permits")["holders"][0]["slots"], [0, 1])

    # --- ls

    def test_what_is_held_is_listed(self):
        for i in range(3):
            self.hold(f"{self.name}/{i}")
        self.hold("other")
        listed = tyer_json(self.url, "ls", self.name + "/")
        self.assertEqual([l["name"] for l in listed["locks"]], [f"{self.name}/{i}" for i in range(3)])
        self.assertIn("other", [l["name"] for l in tyer_json(self.url, "ls")["locks"]])
        names = tyer(self.url, "ls", "--names", self.name + "/").stdout
        self.assertEqual(names.split("\n"), [f"{self.name}/{i}" for i in range(3)] + [""])

    def test_nothing_is_no_error(self):
        done = tyer(self.url, "ls", "nothing-begins-so")
        self.assertEqual(done.stdout, "")
        self.assertIn("no locks", done.stderr)
        self.assertEqual(tyer_json(self.url, "ls", "nothing-begins-so"), {"locks": []})

    def test_a_prefix_is_a_world_of_its_own(self):
        self.hold(self.name)
        tyer(self.url, "--prefix", "elsewhere:", "show", self.name, code=harness.NO)
        tyer(self.url, "show", self.name)

    # --- on a terminal and not

    def test_there_are_colours_on_a_terminal_only(self):
        self.hold(self.name)
        self.assertNotIn(ESCAPE, tyer(self.url, "ls").stdout)
        self.assertIn(ESCAPE, tyer(self.url, "--color", "always", "ls").stdout)
        with Terminal(self.url, "ls") as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertIn(ESCAPE.encode(), terminal.raw)
        with Terminal(self.url, "ls", env={"NO_COLOR": "1"}) as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertNotIn(ESCAPE.encode(), terminal.raw)

    def test_lines_fit_the_terminal(self):
        long = self.name + "/" + "x" * 100
        self.hold(long, note="n" * 20)
        with Terminal(self.url, "ls", self.name) as terminal:
            terminal.end()
            lines = [line for line in terminal.lines() if line]
        self.assertEqual(len(lines), 2, lines)  # nothing has wrapped
        self.assertIn("…", lines[1])
        self.assertIn(long, tyer(self.url, "ls", self.name).stdout)  # and nothing is cut in a pipe

    # --- watch

    def test_a_watch_tells_each_change_in_a_pipe(self):
        with Watching(self.url, "watch", self.name) as watch:
            self.assertIn("free", watch.line())
            holder = self.hold(self.name)
            self.assertRegex(watch.line(), rf"held by .* pid {holder.process.pid} shop at holder\.cpp:")
            holder.give_back()
            self.assertIn("free", watch.line())

    def test_a_watch_of_one_lock_is_json_by_the_line(self):
        with Watching(self.url, "watch", self.name, "--json") as watch:
            states = []
            for change in (lambda: None, lambda: self.hold(self.name)):
                change()
                told = json.loads(watch.line())
                check_schema("watch", told)
                states.append(told["state"])
            self.assertEqual(states, ["free", "held"])

    def test_a_watch_of_all_tells_what_comes_and_goes(self):
        with Watching(self.url, "watch", "--begins-with", self.name, "--every", "100ms", "--json") as watch:
            holder = self.hold(self.name + "/1")
            told = json.loads(watch.line())
            check_schema("watch", told)
            self.assertEqual((told["name"], told["state"]), (self.name + "/1", "held"))
            holder.give_back()
            self.assertEqual(json.loads(watch.line())["state"], "free")

    def test_a_watch_on_a_terminal_is_a_picture_that_goes_on(self):
        with Terminal(self.url, "watch", self.name, "--every", "200ms") as terminal:
            terminal.await_text("free")
            holder = self.hold(self.name)
            terminal.await_text(f"pid {holder.process.pid}")
            if QUEUES:
                self.wait_for(self.name)
                terminal.await_text("1 waiting")
            terminal.child.kill(signal.SIGINT)
            self.assertEqual(terminal.end(), 0)
            self.assertTrue(terminal.raw.rstrip().endswith(b"\x1b[?1049l"))  # the person's own screen is back

    # 2 s until it is looked whether the engine is there, and 2 s for it to answer.
    SILENT_S = 4.0 + 6.0

    def test_a_watch_in_a_pipe_said_nothing_while_the_engine_was_away(self):
        holder = self.hold(self.name)
        with contextlib.ExitStack() as stack:
            lines, one, everything = (
                stack.enter_context(Watching(self.url, "watch", *words))
                for words in ((self.name,), (self.name, "--json"), ("--begins-with", self.name, "--json"))
            )
            for watch in (lines, one, everything):
                self.assertIn("held", watch.line())
            with self.engine.paused():
                self.assertRegex(lines.line(self.SILENT_S), rf"{self.name}  unknown, the engine does not answer")
                for watch, name in ((one, self.name), (everything, None)):
                    told = json.loads(watch.line(self.SILENT_S))
                    check_schema("watch", told)
                    self.assertEqual((told["state"], told.get("name")), ("unknown", name))
                    self.assertIn("the engine does not answer", told["why"])
            self.assertIn(self.name, lines.line())
            for watch in (one, everything):
                told = json.loads(watch.line())
                check_schema("watch", told)
                self.assertIn(told["state"], ("held", "free"))
            holder.process.kill()

    def test_a_watch_ends_when_it_was_told_to(self):
        tyer(self.url, "watch", self.name, "--for", "300ms")
        tyer(self.url, "watch", "--for", "300ms", "--every", "100ms")


if __name__ == "__main__":
    harness.main()
