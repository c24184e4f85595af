#!/usr/bin/python3
"""`tyer run` where flock(1) was: in scripts, crontabs and units, on the kind of engine that TYER_KIND says."""

from __future__ import annotations

import json
import os
import re
import subprocess

import harness
import run_base
from harness import NOT_ACQUIRED, USAGE
from run_base import RunTest, environment, tyer


def printed(language: str, beginning: str) -> str:
    """The block of code of docs/cli.md that begins so."""
    page = os.path.join(harness.ROOT, "docs", language, "cli.md")
    with open(page, encoding="utf-8") as file:
        blocks = re.findall(r"```\w*\n(.*?)```", file.read(), re.DOTALL)
    return next(b for b in blocks if b.startswith(beginning))


class WhereFlockWas(RunTest):
    def test_options_of_flock_mean_the_same_here(self):
        self.hold("--ttl", "60s")
        self.assertEqual(tyer("run", "-n", self.name, "--", "true").returncode, NOT_ACQUIRED)
        self.assertEqual(tyer("run", "-n", "-E", "0", self.name, "--", "true").returncode, 0)
        self.assertEqual(tyer("run", "-w", "2s", "-E", "75", self.name, "--", "true").returncode, 75)
        self.assertEqual(tyer("try", "--conflict-exit-code", "9", self.name, "--", "true").returncode, 9)
        self.assertEqual(tyer("run", "-n", "-w", "1s", self.name, "--", "true").returncode, USAGE)
        self.assertEqual(tyer("run", "-n", "-E", "256", self.name, "--", "true").returncode, USAGE)
        done = tyer("run", "-n", "-E", "75", "--json", self.name, "--", "true")
        (line,) = [line for line in done.stderr.splitlines() if line.startswith(b"{")]
        self.assertEqual(json.loads(line)["outcome"], "not_acquired")

    def test_a_script_takes_its_own_lock(self):
        script = os.path.join(self.folder, "job")
        with open(script, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nset -u\n[ "${{TYER_LOCK-}}" = {self.name} ] || exec tyer run -n {self.name} -- "$0" "$@"\n'
                       'echo "$TYER_LOCK $*"\n')
        os.chmod(script, 0o755)
        run = lambda: subprocess.run([script, "a", "b c"], env=environment(), capture_output=True, timeout=60, check=False)
        self.assertEqual(run().stdout.decode(), f"{self.name} a b c\n")
        self.hold("--ttl", "60s")
        self.assertEqual((run().returncode, run().stdout), (NOT_ACQUIRED, b""))

    def test_a_crontab_works_as_it_is_printed(self):
        """As cron reads it: variables, and the command of a line, in a shell with nothing else around it."""
        for language in ("", "zh"):
            with self.subTest(language or "en"):
                lines = [line for line in printed(language, "# crontab").splitlines() if line and not line.startswith("#")]
                variables = dict(line.split("=", 1) for line in lines if re.match(r"[A-Z_]+=", line))
                (job,) = [line for line in lines if line.startswith("0 3 * * *")]
                command = job.split(None, 5)[5].replace("/usr/local/bin/report", "echo")
                self.assertIn("/usr/bin", variables["PATH"])
                name = f"{self.name}-{language}"
                env = {"HOME": "/nonexistent", "SHELL": "/bin/sh", "LOGNAME": "root"} | variables
                env |= {"PATH": os.path.dirname(harness.TYER) + ":" + variables["PATH"], "TYER_URL": run_base.server.url}
                run = lambda: subprocess.run(["/bin/sh", "-c", command.replace("run report", f"run {name}") + " done"], env=env,
                                             capture_output=True, timeout=60, check=False)
                first, second = run(), run()
                self.assertEqual((first.stdout, second.stdout), (b"done\n", b""), first.stderr + second.stderr)

    def test_a_unit_is_one_that_systemd_knows(self):
        for language in ("", "zh"):
            unit = printed(language, "# /etc/systemd/system/report.service")
            self.assertIn("ExecStart=/usr/bin/tyer run ", unit)
            self.assertRegex(unit, r"\[Timer\]\nOnCalendar=")


if __name__ == "__main__":
    run_base.main()
