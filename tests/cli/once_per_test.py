#!/usr/bin/python3
"""A job that three machines start every second with `--once-per 5s`, while tyer is killed: never twice in a period.

The jobs themselves note when they begin. That the check can see a job that comes too early is shown with two that are
started without --once-per.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from harness import TYER, Engine
from run_lab import children, comm, send

JOB = os.environ["TYER_JOB"]
KIND = os.environ.get("TYER_KIND", "redis")
PERIOD = 5.0
LONG_AT_MOST = 7.0  # what the longest job takes: more than a period
MACHINES = 3


class Fleet:
    """The machines of one engine, and who kills on them."""

    def __init__(self, tools: argparse.Namespace, uri: str, seed: int):
        self.tools, self.uri = tools, uri
        self.dice = random.Random(seed)
        self.file = os.path.join(tools.folder, uri.split(":")[0])
        self.kills = {"tyer": 0, "tyer-keeper": 0, "tyer-guardian": 0, "all": 0}
        self.codes: set[int] = set()
        self.running: list[subprocess.Popen] = []
        self._threads: list[threading.Thread] = []

    def tick(self) -> None:
        """Every machine's cron starts the job."""
        for _ in range(MACHINES):
            takes = self.dice.choice([0, 0, 300, 2000, int(LONG_AT_MOST * 1000)])
            cron = self.start("job", self.file, takes, "--once-per", f"{PERIOD:.0f}s")
            if self.dice.random() < 0.3:
                # Mostly while it takes the lock and the period, which is a matter of milliseconds.
                delay = self.dice.uniform(0, self.dice.choice([0.12, 0.12, 4]))
                killer = threading.Timer(delay, self._kill, (cron, self.dice.choice(list(self.kills))))
                killer.start()
                self._threads.append(killer)
        self._collect()

    def start(self, name: str, file: str, takes: int, *options: str) -> subprocess.Popen:
        command = [TYER, "--url", self.uri, "run", name, "--ttl", "2s", *options, "--", JOB, file,
                   str(takes)]
        cron = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        self.running.append(cron)
        return cron

    def _kill(self, cron: subprocess.Popen, whom: str) -> None:
        if cron.poll() is not None:
            return
        all_of_it = [cron.pid, *(pid for pid in children(cron.pid) if comm(pid) in self.kills)]
        victims = [pid for pid in all_of_it if whom in ("all", comm(pid))]
        send(signal.SIGKILL, *victims)
        self.kills[whom] += bool(victims)

    def _collect(self) -> None:
        self.codes |= {one.returncode for one in self.running if one.poll() is not None}
        self.running = [one for one in self.running if one.poll() is None]

    def finish(self) -> None:
        for thread in self._threads:
            thread.join()
        for one in self.running:
            one.wait(timeout=60)
        self._collect()


def starts(file: str) -> list[float]:
    with open(file, encoding="ascii") as lines:
        return sorted(float(line) for line in lines)


def too_early(times: list[float]) -> list[str]:
    return [f"started {after - before:.3f} s after the one before" for before, after in zip(times, times[1:])
            if after - before < PERIOD]


def judge(fleet: Fleet, seconds: float) -> list[str]:
    times = starts(fleet.file)
    gaps = [after - before for before, after in zip(times, times[1:])]
    print(f"{fleet.uri}: {len(times)} starts, {min(gaps):.3f} to {max(gaps):.3f} s apart; killed {fleet.kills}, codes "
          f"{sorted(fleet.codes)}")
    bad = too_early(times)
    # A period, the time to start in it, a tick; a long job and the ttl of a killed one now and then.
    if len(times) < seconds / (2 * PERIOD + LONG_AT_MOST):
        bad.append(f"only {len(times)} starts in {seconds:.0f} s")
    if unexpected := fleet.codes - {0, 123, -9}:
        bad.append(f"ended with {unexpected}")
    if not all(fleet.kills.values()):
        bad.append(f"not everything was killed: {fleet.kills}")
    return [f"{fleet.uri}: {line}" for line in bad]


def judge_two_without(fleet: Fleet) -> list[str]:
    unlike = os.path.join(fleet.tools.folder, "unlike")
    for _ in range(2):
        fleet.start("unlike", unlike, 0).wait(timeout=30)
    return [] if too_early(starts(unlike)) else ["two jobs without --once-per were not seen: the check is blind"]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=120.0)
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    tools = arguments.parse_args()
    print(f"seed {tools.seed}", flush=True)

    with tempfile.TemporaryDirectory() as tools.folder, Engine(KIND) as server:
        fleet = Fleet(tools, server.url, tools.seed)
        bad = judge_two_without(fleet)
        begin = time.monotonic()
        while time.monotonic() < begin + tools.seconds:
            fleet.tick()
            time.sleep(1.0 - (time.monotonic() - begin) % 1.0)
        fleet.finish()
        bad += judge(fleet, tools.seconds)
    print("\n".join(bad) or "never too early")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
