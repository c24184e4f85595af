#!/usr/bin/python3
"""The static probes of src/runtime/probes.hpp in the real program, and the scripts in tools/bpftrace where bpftrace can run."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import tyer

SCRIPTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools", "bpftrace")
PROGRAM = os.environ["TYER"]


def there_is_sdt() -> bool:
    compiler = shutil.which("c++") or "c++"
    asked = subprocess.run([compiler, "-E", "-xc++", "-"], input="#include <sys/sdt.h>\n", text=True, capture_output=True)
    return asked.returncode == 0


def bpftrace_can_run() -> bool:
    if os.geteuid() != 0 or not shutil.which("bpftrace"):
        return False
    probe = f"usdt:{PROGRAM}:tyer:lost {{ exit(); }} BEGIN {{ exit(); }}"
    return subprocess.run(["bpftrace", "-e", probe], capture_output=True, timeout=60).returncode == 0


@unittest.skipUnless(there_is_sdt(), "<sys/sdt.h> is not there: Tyer has no probes")
class Probes(harness.OnEngine):
    def test_the_program_has_them(self):
        notes = subprocess.run(["readelf", "-n", PROGRAM], text=True, capture_output=True, check=True).stdout
        found = set(re.findall(r"Provider: tyer\n\s+Name: (\w+)", notes))
        self.assertEqual(found, {"acquire", "release", "lost", "renewal"})

    @unittest.skipUnless(bpftrace_can_run(), "bpftrace cannot attach to a program here")
    def test_a_loss_is_printed_as_it_happens(self):
        with subprocess.Popen([os.path.join(SCRIPTS, "losses.bt"), PROGRAM], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as tracing:
            try:
                self.assertIn("WHY", self.line_with(tracing, "NAME"))
                held = subprocess.Popen([PROGRAM, "--url", self.url, "run", "probed/name", "--", "sleep", "60"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                while tyer(self.url, "break", "probed/name", "--now", "--yes", "--reason", "test", code=None).returncode != 0:
                    self.assertIsNone(held.poll())
                self.assertRegex(self.line_with(tracing, "probed/name"), r" gone +\d+  probed/name")
                held.wait()
            finally:
                tracing.send_signal(signal.SIGINT)

    def line_with(self, tracing, word: str) -> str:
        for line in tracing.stdout:
            if word in line:
                return line
        self.fail(f"bpftrace has ended without a line with {word}")


if __name__ == "__main__":
    harness.main()
