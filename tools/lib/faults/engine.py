"""The server under test, started and disturbed only through tools/engines."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time

import resp
from faults.children import LabError
from faults.history import History, Op, now_ns

TOOL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "engines")
TOOL_S_MAX = 30.0
ANSWER_S_MAX = 2.0


def _engines(*words: str) -> str:
    done = subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=TOOL_S_MAX, check=False)
    if done.returncode != 0:
        raise LabError(f"tools/engines {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Engine:
    """One server. What takes time runs on a thread of its own; one such thing at a time."""

    def __init__(self, kind: str, options: list[str], history: History):
        self._history = history
        facts = json.loads(_engines("up", kind, "--json", "--owner", str(os.getpid()), *options))
        self.id: str = facts["id"]
        self.port: int = facts["nodes"][0]["ports"]["client"]
        self._busy = threading.Lock()
        self._thread: threading.Thread | None = None
        self._outages = 0
        self.problem: LabError | None = None

    def destroy(self) -> None:
        if self._thread:
            self._thread.join()
        _engines("down", self.id)

    def restart(self, down_s: float, lose_data: bool) -> bool:
        """kill -9, some time without a server, a new one on the same port. False if another one is under way."""
        if not self._busy.acquire(blocking=False):
            return False
        self._thread = threading.Thread(target=self._restart, args=(down_s, lose_data))
        self._thread.start()
        return True

    def _restart(self, down_s: float, lose_data: bool) -> None:
        try:
            number = self.away_begins()
            _engines("kill", self.id)
            old_until = now_ns()
            time.sleep(down_s)
            new_from = now_ns()
            _engines("restart", self.id, *(["--lose-data"] if lose_data else []))
            if lose_data:
                self._history.add(Op.DATA_LOSS, new_from, until_ns=old_until)
            self.away_ends(number)
        except (LabError, subprocess.TimeoutExpired) as error:
            self.problem = LabError(str(error))
        finally:
            self._busy.release()

    def away_begins(self) -> int:
        """Outages may overlap, so each has a number."""
        self._outages += 1
        number = self._outages
        self._history.add(Op.AWAY_BEGIN, number=number)
        return number

    def away_ends(self, number: int) -> None:
        self._history.add(Op.AWAY_END, number=number)

    def ask(self, *words: str):
        """Straight to the server, past the proxy. None if it is being restarted just now."""
        if not self._busy.acquire(blocking=False):
            return None
        try:
            with self.connect() as connection:
                return connection.ask(*words)
        finally:
            self._busy.release()

    def flush_all(self) -> bool:
        new_from = now_ns()
        if self.ask("FLUSHALL") is None:
            return False
        self._history.add(Op.DATA_LOSS, new_from, until_ns=now_ns())
        return True

    def connect(self) -> resp.Connection:
        return resp.Connection(self.port, ANSWER_S_MAX)

    def heal(self) -> None:
        if self._thread:
            self._thread.join()
        if self.problem:
            raise self.problem
