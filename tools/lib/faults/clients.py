"""The worker processes: some are always running, and each may be killed or stopped at any moment."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass

import clock_shift
from faults.children import Child, LabError
from faults.history import History, Op
from instances import EngineError


@dataclass
class Load:
    """What the workers do."""

    processes: int = 8
    workers: int = 8
    mix: str = "mutex"  # or modes: every primitive, with names of its own
    names: int = 16  # of the mix mutex
    ttl_ms: int = 1000
    request_timeout_ms: int = 500
    clocks: bool = False  # each process has a wall clock of its own, that may jump


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
        self._stopped: set[int] = set()
        self.crashes: list[str] = []
        self._clock_library = os.path.join(folder, "clock_shift.so")
        if load.clocks:
            try:
                clock_shift.compile_to(self._clock_library)
            except EngineError as error:
                raise LabError(str(error)) from None

    def start_all(self) -> None:
        for _ in range(self._load.processes):
            self._start()

    def _start(self) -> None:
        self._started += 1
        base = os.path.join(self._folder, f"worker-{self._started:03}")
        uri = self._uris[self._started % len(self._uris)]
        command = [self._program, "--uri", uri, "--history", base + ".hist", "--resource", self._resource]
        command += ["--ttl-ms", str(self._load.ttl_ms), "--request-timeout-ms", str(self._load.request_timeout_ms)]
        command += ["--workers", str(self._load.workers), "--names", str(self._load.names)]
        command += ["--mix", self._load.mix]
        command += ["--seed", str(self._seed * 1000 + self._started)]
        clock = {}
        if self._load.clocks:
            clock_shift.begin(base + ".clock")
            clock = {"LD_PRELOAD": self._clock_library, "TYER_CLOCK_SHIFT": base + ".clock"}
        self._running.append(Child(command, base + ".err", clock))

    def kill_one(self, dice: random.Random) -> int:
        """kill -9, and a new process in its place."""
        child = dice.choice(self._running)
        self._history.add(Op.KILL, pid=child.pid)
        child.destroy()
        self._running.remove(child)
        self._stopped.discard(child.pid)
        self._start()
        return child.pid

    def stop_one(self, dice: random.Random, at_once_max: int) -> Child | None:
        able = [child for child in self._running if child.pid not in self._stopped]
        if len(self._stopped) >= at_once_max or not able:
            return None
        child = dice.choice(able)
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
            self._start()

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
