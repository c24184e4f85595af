#!/usr/bin/python3
"""--help and the manual pages, which say the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import Terminal, tyer


def commands() -> list[str]:
    section = tyer(None, "--help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+)", section, re.MULTILINE)


def rendered(page: str) -> str:
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", "-"], input=page, capture_output=True, text=True, check=True,
        env=os.environ | {"MANWIDTH": "400", "MAN_KEEP_FORMATTING": ""},
    )
    if done.stderr:
        raise AssertionError(done.stderr)
    return re.sub(r".\x08", "", done.stdout)


def words(text: str) -> str:
    return re.sub(r"\s+", " ", text)


class Pages(unittest.TestCase):
    def test_every_command_has_help_of_80_columns(self):
        self.assertGreaterEqual(len(commands()), 10)
        for command in ["", *commands()]:
            done = tyer(None, *([command] if command else []), "--help")
            self.assertTrue(done.stdout.startswith(f"Usage: tyer {command}".rstrip()), done.stdout)
            for line in done.stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_help_fits_a_small_terminal_too(self):
        with Terminal(None, "show", "--help", columns=60, lines=90) as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertIn("Options of every command:", terminal.text())

    def test_manual_pages_are_in_order_and_say_what_help_says(self):
        for command in ["", *commands()]:
            page = tyer(None, "man", *([command] if command else [])).stdout
            lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning"], input=page, capture_output=True, text=True, check=False)
            self.assertEqual(lint.stdout, "", command)
            shown = words(rendered(page))
            for text in re.findall(r"^  (--?[\w-]+)", tyer(None, *([command] if command else []), "--help").stdout, re.M):
                self.assertIn(text, shown, command)
            self.assertIn("the lock was not free in time", shown)

    def test_a_page_was_printed_as_its_source_on_a_terminal(self):
        with Terminal(None, "man", "version", lines=200, env={"PAGER": "cat", "MANPAGER": "cat"}) as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertRegex(terminal.text(), r"(?m)^NAME$")
            self.assertNotIn(".TH", terminal.text())
        with tempfile.TemporaryDirectory() as nothing, Terminal(None, "man", "version", lines=200, env={"PATH": nothing}) as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertIn(".TH", terminal.text())

    def test_all_pages_can_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            tyer(None, "man", "--all", folder)
            expected = {"tyer.1"} | {f"tyer-{c}.1" for c in commands()}
            self.assertEqual(set(os.listdir(folder)), expected)

    def test_what_help_says_could_not_be_done(self):
        """--reason is required, and elect has no --permits."""
        self.assertIn("`tyer break NAME:once --now --reason again`", words(tyer(None, "run", "--help").stdout))
        told = words(tyer(None, "break", "--help").stdout)
        self.assertIn("Usage: tyer break [OPTION]... NAME --reason TEXT", told)
        self.assertRegex(told, r"--reason TEXT [^-]*\(required\)")
        for command in commands():
            told = tyer(None, command, "--help").stdout
            known = set(re.findall(r"^  (?:-\w, )*(--[\w-]+)", told, re.M))
            for option in set(re.findall(r"(?<![\w`-])(--[a-z][\w-]+)", told.split("Exit codes:")[0])) - known:
                with self.subTest((command, option)):
                    self.assertRegex(told, rf"(?s)`?tyer\s[^`.;]*{option}")  # of another command, in its own line

    def test_exit_codes_are_in_help(self):
        text = tyer(None, "--help").stdout
        for code in (harness.USAGE, harness.UNREACHABLE, harness.REFUSED, harness.LOST, harness.NOT_ACQUIRED, harness.FAILED):
            self.assertRegex(text, rf"(?m)^  {code}  ")


if __name__ == "__main__":
    harness.main()
