#!/usr/bin/python3
"""Which words are tyer's own and which the command's, and what is said of words that are neither."""

from __future__ import annotations

import contextlib
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import Engine, tyer

VERBS = ("run", "try", "elect")
SHOW_WORDS = ("python3", "-c", "import sys; print(sys.argv[1:])")  # as they have reached it


class Arguments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.url = stack.enter_context(Engine("redis")).url

    def setUp(self):
        self.name = harness.fresh_name()

    def out(self, *words: str) -> str:
        return tyer(self.url, *words).stdout

    def wrong(self, *words: str) -> str:
        done = tyer(self.url, *words, code=harness.USAGE)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_a_command_whose_name_was_forgotten_was_taken_for_the_name(self):
        for verb in VERBS:
            with self.subTest(verb):
                told = self.wrong(verb, "--", "echo", "true")
                self.assertIn("NAME is missing before `--`", told)
                self.assertIn(f"tyer {verb} NAME -- COMMAND", told)
        self.wrong("run", "--wait", "5s", "--", "echo", "true")
        self.wrong("run", "--", "--wait", "5s", "echo", "true")
        self.wrong("run", "--")

    def test_options_of_the_command_were_taken_as_those_of_tyer(self):
        all_words = (("--wait", "1s", "x"), ("--shared", "-x"), ("--help",), ("-h",), ("-d", "/tmp"), ("--json", "--url", "x"),
                     ("a", "--", "--ttl", "b"), ("--", "x"), ("--nonsense=1",), ("--",))
        calls = [("run", mark, words) for mark in ((), ("--",)) for words in all_words]
        calls += [(verb, (), all_words[0]) for verb in VERBS]
        for verb, mark, words in calls:
            with self.subTest((verb, mark, words)):
                self.assertEqual(self.out(verb, self.name, *mark, *SHOW_WORDS, *words), f"{list(words)}\n")

    def test_a_word_in_brackets_was_taken_apart(self):
        words = ["[a,b]", "[]", "{}", "", "%%", "[", "]", "[[x]]", "'", "++"]
        self.assertEqual(self.out("run", self.name, "--", *SHOW_WORDS, *words), f"{words}\n")

    def test_options_of_tyer_stand_anywhere_before_the_command(self):
        for words in (("run", self.name, "--wait", "5s", "--"), ("run", "--wait", "5s", self.name), ("run", "--wait=5s", self.name, "--leave"),
                      ("run", self.name, "--wait", "5s"), ("--json", "run", self.name, "--wait", "5s", "--"),
                      ("run", "--url", self.url, self.name, "--note=", "--"), ("run", self.name, "--note", "-x", "--color", "never", "--")):
            with self.subTest(words):
                self.assertEqual(self.out(*words, *SHOW_WORDS, "-x"), "['-x']\n")

    def test_a_name_that_begins_with_a_dash(self):
        for name in ("-x", "--wait", "-5"):
            with self.subTest(name):
                self.assertEqual(self.out("run", "--wait", "5s", "--", name, "--", "sh", "-c", "echo $TYER_LOCK"), f"{name}\n")
                tyer(self.url, "show", "--", name, code=harness.NO)
                tyer(self.url, "wait", "--timeout", "0", "--", name)

    def test_a_name_that_is_a_command_of_tyer(self):
        self.assertEqual(self.out("run", "ls", "echo", "x"), "x\n")
        tyer(self.url, "show", "show", code=harness.NO)

    def test_a_command_that_is_empty_or_missing(self):
        for words in ((self.name,), (self.name, "--"), (self.name, "--wait", "5s")):
            with self.subTest(words):
                self.assertIn("COMMAND is required", self.wrong("run", *words))
        self.assertIn("NAME is required", self.wrong("run"))
        tyer(self.url, "run", self.name, "--", "", code=127)
        tyer(self.url, "run", self.name, "--", "--", "true", code=127)
        self.wrong("run", "", "--", "true")

    def test_help_is_that_of_tyer_before_the_command(self):
        for words in (("run", "--help"), ("run", self.name, "--help"), ("run", self.name, "-h", "--", "ls"), ("--help", "run")):
            with self.subTest(words):
                self.assertTrue(self.out(*words).startswith("Usage: tyer"), words)

    def test_a_mistyped_option_was_blamed_on_the_command(self):
        for words, told in (
            (("run", self.name, "--watt", "5s", "--", "echo", "hi"), "`tyer run` has no option --watt\nDid you mean --wait?"),
            (("run", self.name, "--watt=5s", "echo", "hi"), "has no option --watt\nDid you mean --wait?"),
            (("elect", self.name, "--permits", "1/3", "--", "true"),
             "`tyer elect` has no option --permits\n`tyer run` and `tyer try` have it."),
            (("break", self.name, "--reson", "x"), "`tyer break` has no option --reson\nDid you mean --reason?"),
            (("ls", "--jsno"), "Did you mean --json?"),
            (("--urll", "x", "ls"), "`tyer` has no option --urll\nDid you mean --url?"),
            (("--wait", "5s", "run", self.name, "ls"), "`tyer` has no option --wait\n`tyer run` has it."),
            (("run", self.name, "-y", "5s", "ls"), "has no option -y\nSee `tyer run --help`."),
            (("run", self.name, "-ny", "ls"), "has no option -y\nSee `tyer run --help`."),
            (("run", self.name, "--timeout", "5s", "ls"), "has no option --timeout\nDid you mean --wait?"),
            (("wait", self.name, "--wait", "5s"), "`tyer wait` has no option --wait\nDid you mean --timeout?"),
            (("run", self.name, "-c", "a | b"), "has no option -c\nFor a line of the shell: `tyer run NAME -- sh -c '…'`."),
            (("run", "-pgeheim", "mysql"), "has no option -p\n"),
        ):
            with self.subTest(words):
                text = self.wrong(*words)
                self.assertIn(told, text)
                self.assertNotIn("echo", text)
                self.assertNotIn("geheim", text)

    def test_a_command_that_others_call_otherwise_got_no_hint(self):
        for typed, meant in (("list", "ls"), ("status", "show"), ("unlock", "break"), ("shwo", "show"), ("doc", "doctor")):
            with self.subTest(typed):
                self.assertIn(f"Did you mean `tyer {meant}`?", self.wrong(typed))
        self.assertNotIn("Did you mean", self.wrong("nightly", "--", "true"))
        self.assertIn("no command", self.wrong("--", "ls"))

    def test_what_flock_allows_in_one_word_was_no_option(self):
        for words in (("-w5s",), ("-nE75",), ("-n", "-E75"), ("-enE", "75"), ("-w=5s",), ("-E=75",), ("-x",), ("-e",), ("--exclusive",)):
            with self.subTest(words):
                self.assertEqual(self.out("run", *words, self.name, *SHOW_WORDS, "-w1"), "['-w1']\n")
        with harness.Holder(self.url, self.name) as holder:
            holder.held()
            tyer(self.url, "run", "-nE75", self.name, "--", "true", code=75)
            tyer(self.url, "run", "-w100ms", "-E75", self.name, "--", "true", code=75)
        self.assertIn("-w needs a value", self.wrong("run", self.name, "-nw"))
        self.assertIn("'1' is not a duration", self.wrong("run", "-w1", self.name, "--", "true"))
        self.assertIn("--exclusive", self.wrong("run", "-sx", self.name, "--", "true"))

    def test_a_command_without_run_got_no_hint(self):
        told = self.wrong("nightly", "--", "./backup", "geheim")
        self.assertIn("there is no command 'nightly'\nTo run a command under a lock of that name: `tyer run NAME -- COMMAND…`.", told)
        self.assertNotIn("geheim", told)
        self.assertNotIn("To run a command", self.wrong("nightly"))

    def test_help_was_no_command(self):
        self.assertEqual(self.out("help"), self.out("--help"))
        self.assertEqual(self.out("help", "run"), self.out("run", "--help"))
        self.assertEqual(self.out("--json", "help", "ls"), self.out("ls", "--help"))
        self.assertIn("no command 'bogus'", self.wrong("help", "bogus"))
        self.assertEqual(self.out("run", "help", "echo", "x"), "x\n")  # a lock of that name

    def test_an_empty_url_was_taken_for_no_url_and_another_engine_was_asked(self):
        for words in (("--url", "", "ls"), ("--url=", "ls"), ("ls", "--url", ""), ("run", "--url", "", self.name, "--", "true")):
            with self.subTest(words):
                self.assertIn("tyer: --url is empty (is a variable unset?)\n", self.wrong(*words))
        for option in ("--prefix", "--config", "--color"):
            self.assertIn(f"{option} is empty", self.wrong(option, "", "ls"))
        self.assertIn("--also is empty", self.wrong("deadlocks", "--also", ""))

    def test_the_version_was_told_as_a_command_only(self):
        for words in (("--version",), ("-V",), ("--json", "--version"), ("--version", "--json")):
            with self.subTest(words):
                self.assertEqual(self.out(*words), self.out("version", *(w for w in words if w == "--json")))
        self.assertIn("`tyer ls` has no option --version", self.wrong("ls", "--version"))

    def test_a_value_or_a_word_is_missing_or_too_many(self):
        for words, told in ((("run", self.name, "--note", "--", "true"), "--note needs a value"), (("wait", "x", "--timeout"), "--timeout needs a value"),
                            (("ls", "a", "b", "c"), "`tyer ls` does not expect 'b'"), (("show", "--", "a", "--"), "does not expect '--'")):
            with self.subTest(words):
                self.assertIn(told, self.wrong(*words))


if __name__ == "__main__":
    harness.main()
