"""Looks whether a server has died by itself, tells of it, and starts it again."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from typing import TYPE_CHECKING

from faults.children import LabError
from faults.engine import engines, intents
from faults.history import now_ns
from processes import Process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faults.engine import Servers

LOOK_EVERY_S = 0.1  # one that has died is noticed that soon, and as much later as the machine lets nobody run
DEATHS_MAX = 5  # of one run: more than these are no accident, and there is no verdict
LINES_SHOWN = 30


class Deaths:
    """Of servers that the lab did not end. From when such a one was last seen alive until it is well again the engine counts
    as away, and no longer; what it had on its disk it has again. Where it has nothing there, there is no verdict."""

    def __init__(self, servers: Servers, say: Callable[[str], None]):
        self.count = 0
        self._servers, self._say = servers, say
        self._record = os.path.join(os.path.dirname(servers.nodes[0]["dir"]), "instance.json")
        self._folders = {node["name"]: node["dir"] for node in servers.nodes}
        self._own_doings: int | None = None
        self._seen: dict[str, int] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def look(self) -> int:
        """Gives back how many have died by now; those are well again."""
        with self._lock:
            for name in list(self._dead()):
                self._revive(name)
            return self.count

    def _watch(self) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            try:
                self.look()
            except (LabError, OSError, subprocess.TimeoutExpired) as error:
                self._servers.problem = LabError(str(error))
                return

    def _dead(self) -> Iterator[str]:
        """By themselves. While we do something to them, and of those that we have ended, nobody can say."""
        begun, own_doings = now_ns(), intents.count(self._servers.id)
        if own_doings is None:
            return
        if own_doings != self._own_doings:  # what we did is done: whoever was started answers
            self._own_doings, self._seen = own_doings, dict.fromkeys(self._folders, begun)
        alive = {name: process.alive() for name, process in self._processes().items()}
        if intents.count(self._servers.id) != own_doings:
            return
        for name, is_alive in alive.items():
            if is_alive:
                self._seen[name] = begun
            elif not intents.has_ended(self._servers.id, name):
                yield name

    def _processes(self) -> dict[str, Process]:
        with open(self._record, encoding="utf-8") as file:
            nodes = json.load(file)["nodes"]
        return {node["name"]: Process(**node["process"]) for node in nodes if node["process"]}

    def _revive(self, name: str) -> None:
        self.count += 1
        number = self._servers.away_begins(since_ns=self._seen[name])
        words = f"{name} died by itself at {time.strftime('%H:%M:%S')}; the last that it wrote down:\n{self._tail(name)}"
        self._servers.notes.append(words)
        self._say(words)
        if not self._servers.keeps_all:
            raise LabError(f"{name} died by itself, and has lost what it had")
        if self.count > DEATHS_MAX:
            raise LabError(f"{name} died by itself, after {DEATHS_MAX} such deaths")
        engines("restart", self._servers.id, name)
        self._servers.until(lambda: self._servers.is_well(name), f"{name} had died by itself, and is not well again")
        self._servers.away_ends(number)

    def _tail(self, name: str) -> str:
        try:
            with open(os.path.join(self._folders[name], "server.log"), encoding="utf-8", errors="replace") as file:
                return "".join(file.readlines()[-LINES_SHOWN:]).rstrip()
        except OSError as error:
            return f"({error})"
