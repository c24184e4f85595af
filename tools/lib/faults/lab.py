"""One run: everything is started, disturbed for a while, healed, looked at and taken down."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter

from faults.children import Child, LabError
from faults.clients import Clients, Load
from faults.deaths import Deaths
from faults.engine import Servers
from faults.history import History, Op, now_ns
from faults.kinds import Fault
from faults.proxy import Proxy
from faults.timeline import Timeline

# A fault that could not be done (the server is down already) is tried again after this time.
AGAIN_S = 0.3
# What is told of the time in which a promise was broken.
BEFORE_S, AFTER_S, LINES_MAX = 6.0, 1.0, 60

PROGRAMS = ("fault_worker", "fault_proxy", "fault_resource", "fault_checker")


def find_programs(build: str) -> dict[str, str]:
    found = {}
    for name in PROGRAMS:
        path = os.path.join(build, "tests", "fault", name)
        if not os.access(path, os.X_OK):
            raise LabError(f"{path} is not there: build it first (cmake --build {build} --target {name})")
        found[name] = path
    return found


class Lab(contextlib.ExitStack):
    """Leaves nothing behind, however it is left: no process, no server, and (unless kept) no file."""

    def __init__(
        self,
        build: str,
        servers: type[Servers],
        kind: tuple[str, list[str]],
        load: Load,
        query: str,  # to be added to the URI
        shift: float,  # between the clocks of the servers
        confirmed_by: int,  # replicas, for a grant to count
        seed: int,
        keep: bool,
        verbose: bool,
    ):
        super().__init__()
        self.build = build
        self.load = load
        self.programs = find_programs(build)
        self.done: Counter[str] = Counter()
        self.not_ended = 0
        self._said: list[tuple[float, str]] = []
        self.proxies: list[Proxy] = []
        self._servers, self._kind, self._query, self._shift, self._seed = servers, kind, query, shift, seed
        self._confirmed_by = confirmed_by
        self.keep, self._verbose = keep, verbose

    def __enter__(self) -> Lab:
        super().__enter__()
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind=None, *details) -> bool | None:
        # Without a verdict somebody will want to know why.
        self.keep |= kind is not None and kind is not KeyboardInterrupt
        # A second signal must not interrupt the taking down.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        try:
            return super().__exit__(kind, *details)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _start(self) -> None:
        # In memory: a page of history must never wait for the disk, which the server keeps busy.
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="tyer-faults-", dir=base)
        self.callback(self._leave_folder)
        self.history = History(os.path.join(self.folder, "faults.hist"))
        self.engine = self._servers(*self._kind, self.history)
        self.engine.confirmed_by = self._confirmed_by
        self.callback(self.engine.destroy)
        self.callback(self._tell_of_servers)
        uris = [uri + self._query for uri in self.engine.uris(self)]
        if self._shift:
            self.engine.shift_clocks(self._shift)
        self.engine.deaths = Deaths(self.engine, self.say)
        self.callback(self.engine.deaths.end)
        resource = os.path.join(self.folder, "resource")
        gate = Child([self.programs["fault_resource"], resource, resource + ".hist"], resource + ".err")
        self.callback(gate.destroy)
        gate.first_line()
        self.clients = Clients(
            self.programs["fault_worker"], self.folder, uris, resource, self.load, self._seed, self.history
        )
        self.callback(self.clients.destroy)
        self.clients.start_all()

    def make_proxy(self, name: str, upstream: int, rules: str, speaks: str = "redis") -> Proxy:
        proxy = Proxy(self.programs["fault_proxy"], self.folder, name, upstream, rules, speaks, self._seed)
        self.callback(proxy.destroy)
        self.proxies.append(proxy)
        return proxy

    def _tell_of_servers(self) -> None:
        """What they did by themselves; and what they wrote down, for whoever looks at the histories."""
        for words in self.engine.notes:
            print(f"faults: {words}", file=sys.stderr, flush=True)
        if self.keep:
            self.engine.keep(self.folder)

    def _leave_folder(self) -> None:
        if self.keep:
            print(f"faults: histories are in {self.folder}", file=sys.stderr, flush=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def say(self, words: str) -> None:
        self._said.append((now_ns() / 1e9, words))
        if self._verbose:
            print(f"{self.timeline.now():8.3f}  {words}", file=sys.stderr, flush=True)

    def said_around(self, moments: list[float]) -> list[str]:
        """What was done shortly before these moments (of the histories' clock), and just after."""
        near = [
            (at, words) for at, words in self._said if any(moment - BEFORE_S < at < moment + AFTER_S for moment in moments)
        ]
        return [f"{at:.3f}: {words}" for at, words in near[:LINES_MAX]]

    def disturb(self, faults: list[Fault], seconds: float, complete: bool) -> None:
        """With `complete`, for longer if a fault that takes its time has not had its turn."""
        self.timeline = Timeline()
        dice = {fault: random.Random(f"{self._seed}/{fault.name}") for fault in faults}
        for fault in faults:
            for when in fault.times(dice[fault], seconds):
                self.timeline.at(when, lambda fault=fault: self._strike(fault, dice[fault]))
        for when in range(int(seconds)):
            self.timeline.at(when + 0.5, self.clients.replace_crashed)
        self.timeline.run(seconds)
        for fault in faults if complete else []:
            fault.catch_up(self, dice[fault])

    def _strike(self, fault: Fault, dice: random.Random) -> None:
        if not fault.strike(self, dice):
            self.timeline.at(self.timeline.now() + AGAIN_S, lambda: self._strike(fault, dice))

    def did(self, name: str, words: str) -> None:
        """A fault has happened."""
        self.say(f"{name}: {words}")
        self.history.add(Op.FAULT)
        self.done[name] += 1

    def heal(self, calm_s: float, drain_s: float) -> None:
        """Nothing is broken any more; load goes on for a while; then everybody finishes."""
        self.clients.resume_all()
        self.engine.heal()  # what has begun may need its partition to come to an end
        for proxy in self.proxies:
            proxy.order("pass")
        for proxy in self.proxies:
            for kind, count in proxy.dropped().items():
                self.done[f"drop_{kind}"] += count
        self.say("healed")
        self.timeline.run(self.timeline.now() + calm_s)
        self.clients.replace_crashed()
        self.say("draining")
        self.not_ended = self.clients.drain(drain_s)
        self.engine.raise_problem()
        self.say("drained")
