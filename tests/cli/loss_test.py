#!/usr/bin/python3
"""The lock of a command is taken from it, a hundred times: all of the command is dead before another one has the lock.

Five faults, on Redis and on etcd. Whether it is dead is said by others than tyer: every process of the command keeps
writing the time into a file, and the one who gets the lock next looks at the file and into /proc in the moment it has it.

That the look can see a living one is shown too: with a guardian that is stopped, it must.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from harness import TYER, Engine
from run_lab import Proxy, Trio, send

WITNESS, CONTENDER = os.environ["TYER_WITNESS"], os.environ["TYER_CONTENDER"]
TTL = "3s"
FAMILY_SIZE = 4


class Case:
    def __init__(self, tools: argparse.Namespace, uri: str, number: int, fault: str, seed: int, guarded: bool = True):
        self.tools, self.uri, self.fault, self.guarded = tools, uri, fault, guarded
        self.dice = random.Random(seed)
        self.name = f"loss/{number}"
        self.file = os.path.join(tools.folder, f"{number}.record")
        self.how = self.dice.choice(["stop", "kill", "partition"])
        self.given_back = False  # by a keeper that was left alive: then the next has it at once

    def __str__(self) -> str:
        return f"{self.name} on {self.uri.split(':')[0]}: {self.fault} ({self.how})"

    def run(self) -> dict:
        proxy = Proxy(self.uri)
        holder = self._hold(proxy.uri)
        contender = None
        try:
            trio = Trio(holder.pid)
            contender = self._contend()
            time.sleep(self.dice.uniform(0.0, 1.5))  # anywhere between two renewals
            if not self.guarded:
                send(signal.SIGSTOP, trio.guardian)
            self._strike(trio, proxy)
            result = json.loads(contender.communicate(timeout=40)[0])
            if not self.guarded:
                send(signal.SIGCONT, trio.guardian)
            send(signal.SIGCONT, trio.keeper, trio.front)
            result["code"] = holder.wait(timeout=20)
            return result
        finally:
            for child in filter(None, (contender, holder)):
                if child.poll() is None:
                    child.kill()
                child.wait()
            proxy.close()

    def _hold(self, url: str) -> subprocess.Popen:
        words = {"deaf": ["--deaf"], "family": ["--family"]}.get(self.fault, [])
        command = [WITNESS, self.file, *words]
        holder = subprocess.Popen([TYER, "--url", url, "run", self.name, "--ttl", TTL, "--", *command],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        wanted = FAMILY_SIZE if self.fault == "family" else 1
        end = time.monotonic() + 20
        while self._processes() < wanted:
            if time.monotonic() > end or holder.poll() is not None:
                raise RuntimeError(f"{self}: the command has not started")
            time.sleep(0.005)
        return holder

    def _processes(self) -> int:
        try:
            with open(self.file, "rb") as file:
                return int.from_bytes(file.read(4), sys.byteorder)
        except FileNotFoundError:
            return 0

    def _contend(self) -> subprocess.Popen:
        contender = subprocess.Popen([CONTENDER, self.uri, self.name, self.file], stdout=subprocess.PIPE,
                                     text=True)
        if contender.stdout.readline().strip() != "queued":
            raise RuntimeError(f"{self}: nobody contends")
        return contender

    def _strike(self, trio: Trio, proxy: Proxy) -> None:
        how = {"stop": "stop", "kill": "kill", "partition": "partition"}.get(self.fault, self.how)
        if how == "partition":
            return proxy.cut()
        whom = [[trio.keeper, trio.front], [trio.keeper]]
        if how == "stop":
            return send(signal.SIGSTOP, *self.dice.choice(whom))
        victims = self.dice.choice([*whom, [trio.front]])
        self.given_back = trio.keeper not in victims
        send(signal.SIGKILL, *victims)


def run_all(cases: list[Case], at_a_time: int) -> list[tuple[Case, dict]]:
    with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
        return list(zip(cases, pool.map(lambda case: case.run(), cases)))


def overlaps(results: list[tuple[Case, dict]]) -> list[str]:
    return [f"{case}: {found}" for case, found in results if found["alive"] or found["dead_for_ms"] < 0]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kinds", default=os.environ.get("TYER_KINDS", "redis"), help="of engines: redis,etcd")
    arguments.add_argument("--runs", type=int, default=100)
    arguments.add_argument("--at-a-time", type=int, default=12)
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    tools = arguments.parse_args()
    print(f"seed {tools.seed}", flush=True)

    with tempfile.TemporaryDirectory() as tools.folder:
        results, unguarded = [], []
        with Engine(tools.kinds.split(",")[0]) as first, Engine(tools.kinds.split(",")[-1]) as last:
            uris = [first.url, last.url]
            faults = ["stop", "kill", "partition", "deaf", "family"]
            cases = [Case(tools, uris[i % 2], i, faults[i // 2 % 5], tools.seed + i) for i in range(tools.runs)]
            results = run_all(cases, tools.at_a_time)
            unguarded = run_all([Case(tools, uris[i % 2], 1000 + i, "stop", i, guarded=False) for i in range(4)], 4)

    bad = overlaps(results)
    for fault in ("stop", "kill", "partition", "deaf", "family"):
        of_it = [found["dead_for_ms"] for case, found in results if case.fault == fault and not case.given_back]
        print(f"{fault:10} {len(of_it)} times it ran out, all dead at least {min(of_it)} ms before the next had it")
    bad += [f"{case}: ended with {found['code']}, not 123" for case, found in results if found["code"] not in (123, -9)]
    if len(seen := overlaps(unguarded)) != len(unguarded):
        bad.append(f"without a guardian only {len(seen)} of {len(unguarded)} were seen alive: the look is blind")
    print("\n".join(bad) or f"{len(results)} of {len(results)}; without a guardian {len(seen)} of {len(seen)} were caught")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
