"""What every test of `tyer run` begins with: an engine of the kind that TYER_KIND says, and a lock of its own."""

from __future__ import annotations

import itertools
import os
import subprocess
import tempfile
import unittest

import harness
from harness import PATIENCE_S, TYER, Engine

KIND = os.environ.get("TYER_KIND", "redis")

server: Engine
names = (f"lock-{number}" for number in itertools.count())


def environment() -> dict[str, str]:
    return harness.environment(server.url)


def tyer(*words: str, **how) -> subprocess.CompletedProcess:
    """Runs it to its end, without a terminal, as cron would."""
    how.setdefault("stdin", None if "input" in how else subprocess.DEVNULL)
    how |= {"capture_output": True, "env": environment(), "timeout": 60, "start_new_session": True}
    return subprocess.run([TYER, *words], **how)


def read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


class RunTest(unittest.TestCase):
    def setUp(self):
        self.name = next(names)
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def start(self, *words: str) -> subprocess.Popen:
        """Starts it without a terminal, as cron would."""
        child = subprocess.Popen([TYER, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True)
        self.addCleanup(self._end, child)
        return child

    def _end(self, child: subprocess.Popen) -> None:
        if child.poll() is None:
            child.terminate()
        child.communicate(timeout=PATIENCE_S)

    def hold(self, *options: str, script: str = "echo held; exec sleep 1000") -> subprocess.Popen:
        """One that has the lock and runs a script; returns when the script has said so."""
        child = self.start("run", self.name, *options, "--", "sh", "-c", script)
        self.assertEqual(child.stdout.readline(), "held\n")
        return child

    def is_free(self) -> bool:
        return tyer("try", self.name, "--", "true").returncode == 0


def main() -> None:
    global server
    with Engine(KIND) as server:
        harness.main()
