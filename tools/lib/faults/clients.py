"""The worker processes: some are always running, and each may be killed or stopped at any moment."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass

import clock_shift
import drop_replies
from faults import names
from faults.children import Child, LabError
from faults.history import History, Op, now_ns
from instances import EngineError


@dataclass
class Load:
    """What the workers do."""

    processes: int = 8
    workers: int = 8
    waiters: int = 2  # processes that only wait: for what those have that only hold, and for the hot name
    mix: str = "mutex"  # or modes: every primitive, with names of its own
    names: int = 16  # of the mix mutex; those that are kept come on top
    ttl_ms: int = 1000
    request_timeout_ms: int = 500
    # Of those that only hold: longer than a lease, so that no answer about one hold may wait for that of another.
    holders_timeout_ms: int = 2000
    clocks: bool = False  # each process has a wall clock of its own, that may jump
    drops: bool = False  # what a process reads may be dropped


# Of the clients that are killed or stopped, so many have another role than to be busy: what they are for takes time.
OTHERS_PART = 1 / 12


class Clients:
    def __init__(
        self, program: str, folder: str, uris: list[str], resource: str, load: Load, seed: int, history: History
    ):
        self._program = program
        self._folder = folder
        self._uris = uris  # in turns
        self._resource = resource
        self._load = load
        self._seed = seed
        self._history = history
        self._started = 0
        self._running: list[Child] = []
        self._roles: dict[int, list[str]] = {}  # by pid, as options of the program; none: busy
        self._stopped: set[int] = set()
        self.crashes: list[str] = []
        self._clock_library = os.path.join(folder, "clock_shift.so")
        self._drop_library = os.path.join(folder, "drop_replies.so")
        try:
            if load.clocks:
                clock_shift.compile_to(self._clock_library)
            if load.drops:
                drop_replies.compile_to(self._drop_library)
        except EngineError as error:
            raise LabError(str(error)) from None

    def start_all(self) -> None:
        for _ in range(self._load.processes):
            self._start([])
        for number in range(names.HOLDERS):
            kept = ["--kept-from", str(number * names.KEPT_EACH), "--kept", str(names.KEPT_EACH)]
            self._start(["--role", "holder", *kept])
        for _ in range(self._load.waiters):
            self._start(["--role", "waiter", "--kept", str(names.KEPT)])

    def _start(self, role: list[str]) -> None:
        self._started += 1
        base = os.path.join(self._folder, f"worker-{self._started:03}")
        uri = self._uris[self._started % len(self._uris)]
        command = [self._program, "--uri", uri, "--history", base + ".hist", "--resource", self._resource]
        command += ["--ttl-ms", str(self._load.ttl_ms), "--request-timeout-ms", str(self._timeout_ms(role))]
        command += ["--workers", str(self._load.workers), "--names", str(self._load.names)]
        command += ["--mix", self._load.mix, *role]
        command += ["--seed", str(self._seed * 1000 + self._started)]
        child = Child(command, base + ".err", self._preloaded(base))
        self._running.append(child)
        self._roles[child.pid] = role

    def _timeout_ms(self, role: list[str]) -> int:
        return self._load.holders_timeout_ms if "holder" in role else self._load.request_timeout_ms

    def _preloaded(self, base: str) -> dict[str, str]:
        libraries, environment = [], {}
        if self._load.clocks:
            clock_shift.begin(base + ".clock")
            libraries.append(self._clock_library)
            environment["TYER_CLOCK_SHIFT"] = base + ".clock"
        if self._load.drops:
            drop_replies.begin(base + ".drops")
            libraries.append(self._drop_library)
            environment["TYER_DROP_REPLIES"] = base + ".drops"
        return environment | ({"LD_PRELOAD": ":".join(libraries)} if libraries else {})

    def _some(self, dice: random.Random, among: list[Child]) -> Child:
        busy = [child for child in among if not self._roles[child.pid]]
        others = [child for child in among if self._roles[child.pid]]
        return dice.choice(others if others and (not busy or dice.random() < OTHERS_PART) else busy)

    def kill_one(self, dice: random.Random) -> int:
        """kill -9, and a new process in its place."""
        child = self._some(dice, self._running)
        self._history.add(Op.KILL, pid=child.pid)
        child.destroy()
        self._running.remove(child)
        self._stopped.discard(child.pid)
        self._start(self._roles[child.pid])
        return child.pid

    def stop_one(self, dice: random.Random, at_once_max: int) -> Child | None:
        able = [child for child in self._running if child.pid not in self._stopped]
        if len(self._stopped) >= at_once_max or not able:
            return None
        child = self._some(dice, able)
        self._history.add(Op.STOP, pid=child.pid)
        child.send(signal.SIGSTOP)
        self._stopped.add(child.pid)
        return child

    def move_clock(self, dice: random.Random, seconds: float) -> Child:
        child = dice.choice(self._running)
        clock_shift.put(self._clock_of(child), seconds)
        return child

    def right_clock(self, child: Child) -> None:
        clock_shift.put(self._clock_of(child), 0.0)

    def drop_reply(self, dice: random.Random, by_silence: bool) -> int:
        """Of some process, what it reads next. Silence lasts until the client gives the connection up."""
        child = dice.choice(self._running)
        drop_replies.order(child.errors.removesuffix(".err") + ".drops", by_silence)
        if by_silence:
            until = now_ns() + (self._load.ttl_ms + self._timeout_ms(self._roles[child.pid])) * 1_000_000
            self._history.add(Op.HINDERED, until_ns=until, number=child.pid)
        return child.pid

    def replies_dropped(self) -> int:
        """So far, by all."""
        files = (os.path.join(self._folder, name) for name in os.listdir(self._folder) if name.endswith(".drops"))
        return sum(drop_replies.dropped(path) for path in files)

    def _clock_of(self, child: Child) -> str:
        return child.errors.removesuffix(".err") + ".clock"

    def resume(self, child: Child) -> None:
        """Does nothing if it was killed meanwhile."""
        if child not in self._running or child.pid not in self._stopped:
            return
        child.send(signal.SIGCONT)
        self._history.add(Op.CONT, pid=child.pid)
        self._stopped.discard(child.pid)

    def resume_all(self) -> None:
        for child in list(self._running):
            self.resume(child)

    def replace_crashed(self) -> None:
        """Whoever ended without being killed by us is a finding."""
        for child in [child for child in self._running if child.ended() is not None]:
            self._history.add(Op.KILL, pid=child.pid)
            self.crashes.append(f"pid {child.pid} ended with {child.ended()}: {child.complaints()[-2000:]}")
            self._running.remove(child)
            self._stopped.discard(child.pid)
            self._start(self._roles[child.pid])

    def drain(self, seconds: float) -> int:
        """Lets everybody finish what was begun. Gives back how many have not: the checker finds out where they wait."""
        for child in self._running:
            child.send(signal.SIGTERM)
        deadline = time.monotonic() + seconds
        for child in self._running:
            child.wait(deadline - time.monotonic())
        self._history.add(Op.FINISH)
        for child in self._running:
            if child.ended() not in (None, 0):
                self.crashes.append(f"pid {child.pid} ended with {child.ended()}: {child.complaints()[-2000:]}")
        return sum(child.ended() is None for child in self._running)

    def complaints(self) -> list[str]:
        """What the workers wrote to their error output, each line once."""
        lines: dict[str, int] = {}
        for name in sorted(os.listdir(self._folder)):
            if name.startswith("worker-") and name.endswith(".err"):
                with open(os.path.join(self._folder, name), encoding="utf-8", errors="replace") as file:
                    for line in file:
                        lines[line.strip()] = lines.get(line.strip(), 0) + 1
        return [f"{line} ({count} times)" for line, count in lines.items()]

    def destroy(self) -> None:
        for child in self._running:
            child.destroy()
        self._running.clear()
