"""Processes that lock, one side in C++ and the others in other languages, and do what they are told: see peer.cpp."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time

# Far longer than anything here takes.
PATIENCE_S = 30.0


class Peer:
    def __init__(self, side: str, words: list[str], log: str):
        self.side = side
        with open(log, "ab") as errors:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )
        self._answers: dict[str, queue.Queue] = {}
        self._guard = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def await_ready(self) -> Peer:
        self.answer("ready")
        return self

    def tell(self, thread: str, verb: str, name: str, number: int | None = None) -> None:
        words = [thread, verb, name] + ([] if number is None else [str(number)])
        self._process.stdin.write(" ".join(words) + "\n")
        self._process.stdin.flush()

    def answer(self, thread: str) -> tuple[str, int]:
        """What it said next, and when, in nanoseconds of CLOCK_MONOTONIC."""
        try:
            return self._of(thread).get(timeout=PATIENCE_S)
        except queue.Empty:
            raise AssertionError(f"{self.side} did not answer {thread}") from None

    def silent(self, thread: str) -> bool:
        return self._of(thread).empty()

    def ask(self, thread: str, verb: str, name: str, number: int | None = None) -> tuple[str, int]:
        self.tell(thread, verb, name, number)
        return self.answer(thread)

    def kill(self) -> int:
        """With all that it has started. When it was certainly still alive."""
        now = time.monotonic_ns()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        return now

    def died(self) -> bool:
        return self._process.poll() is not None

    def _of(self, thread: str) -> queue.Queue:
        with self._guard:
            return self._answers.setdefault(thread, queue.Queue())

    def _listen(self) -> None:
        with self._process.stdout as lines:
            for line in lines:
                words = line.split()
                if len(words) == 2:
                    self._of(words[0]).put((words[0], int(words[1])))
                elif len(words) == 3:
                    self._of(words[0]).put((words[1], int(words[2])))
