#!/usr/bin/python3
"""Completions, in the shells that use them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import Engine, Holder, Terminal, environment

# What bash would offer for a line, one on each line.
BASH = r"""
source <(tyer completions bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_tyer
printf '%s\n' "${COMPREPLY[@]}"
"""


class Completions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.url = stack.enter_context(Engine("redis")).url
        for name in ("order/41", "order/42", "stock"):
            stack.enter_context(Holder(cls.url, name)).held()

    def run_in(self, *words: str) -> list[str]:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, env=environment(self.url), stdin=subprocess.DEVNULL
        )
        self.assertEqual(done.stderr, "")
        return done.stdout.split("\n")[:-1]

    def bash(self, *line: str) -> list[str]:
        return self.run_in("bash", "--norc", "-c", BASH, "bash", *line)

    def fish(self, line: str) -> list[str]:
        found = self.run_in("fish", "--no-config", "-c", "tyer completions fish | source; complete -C $argv[1]", line)
        return [one.split("\t")[0] for one in found]

    def test_bash(self):
        self.assertEqual(self.bash("tyer", "sh"), ["show"])
        self.assertIn("doctor", self.bash("tyer", ""))
        self.assertEqual(self.bash("tyer", "wait", "--ti"), ["--timeout"])
        self.assertEqual(self.bash("tyer", "ls", "--js"), ["--json"])
        self.assertEqual(self.bash("tyer", "show", "or"), ["order/41", "order/42"])
        self.assertEqual(self.bash("tyer", "--json", "show", "st"), ["stock"])
        self.assertEqual(self.bash("tyer", "completions", "z"), ["zsh"])
        self.assertEqual(self.bash("tyer", "--color", "n"), ["never"])
        self.assertEqual(self.bash("tyer", "man", "sho"), ["show"])

    def test_fish(self):
        self.assertEqual(self.fish("tyer sh"), ["show"])
        self.assertIn("--timeout", self.fish("tyer wait --ti"))
        self.assertEqual(self.fish("tyer show or"), ["order/41", "order/42"])
        self.assertEqual(self.fish("tyer --color n"), ["never"])
        self.assertIn("--json", self.fish("tyer ls --j"))

    def test_zsh(self):
        with Terminal(self.url, "-f", "-i", program="zsh", env={"PS1": "> "}) as zsh:
            zsh.type("autoload -Uz compinit; compinit -D; source <(tyer completions zsh); print ready-$((40 + 2))\n")
            zsh.await_text("ready-42")
            for typed, text in (("tyer sho\t", "tyer show"), ("stoc\t", "tyer show stock")):
                zsh.type(typed)
                zsh.await_text(text)
            zsh.type("\x15tyer wait --ti\t")
            zsh.await_text("tyer wait --timeout")


if __name__ == "__main__":
    harness.main()
