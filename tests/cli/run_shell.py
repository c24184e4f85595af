"""A bash on a terminal of its own, and somebody who types."""

from __future__ import annotations

import pexpect

from harness import PATIENCE_S, environment

CTRL_C, CTRL_Z, CTRL_D = "\x03", "\x1a", "\x04"
PROMPT = "ready> "


class Shell:
    def __init__(self, url: str):
        words = ["--norc", "--noprofile", "--noediting", "-i"]
        self._bash = pexpect.spawn("bash", words, env=environment(url, PS1=PROMPT), encoding="utf-8", timeout=PATIENCE_S)
        self.pid = self._bash.pid
        self.until_prompt()

    def type(self, text: str) -> None:
        self._bash.send(text)

    def do(self, line: str) -> str:
        """Types a line, and gives what is printed until the prompt is there again."""
        self.type(line + "\n")
        self.expect("\r\n")  # the echo
        return self.until_prompt()

    def until_prompt(self) -> str:
        return self.expect(PROMPT)

    def expect(self, pattern: str) -> str:
        """Reads until the pattern is there; gives what came before it."""
        self._bash.expect(pattern)
        return self._bash.before

    def close(self) -> None:
        """The terminal goes away, as when its window is closed."""
        self._bash.close(force=True)
