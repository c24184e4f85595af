"""Processes that lock, one side in C++ and the other in Java, and do what they are told: see peer.cpp."""

from __future__ import annotations

import os
import queue
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
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
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
        """When it was certainly still alive."""
        now = time.monotonic_ns()
        self._process.kill()
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


class Sides:
    """How each side is started."""

    def __init__(self, uri: str, cpp: str, java: str, logs: str):
        self._uri, self._cpp, self._java, self._logs = uri, cpp, java, logs

    def cpp(self, ttl_ms: int, *contention: str) -> Peer:
        words = [self._cpp, f"{self._uri}?protocol=redisson", str(ttl_ms), *contention]
        return Peer("C++", words, os.path.join(self._logs, "cpp.log"))

    def java(self, watchdog_ms: int, *contention: str) -> Peer:
        classes = f"{self._java}/classes:{self._java}/jars/*"
        words = ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8", "-Dsun.jnu.encoding=UTF-8"]
        words += ["-cp", classes, "Peer", self._uri, str(watchdog_ms), *contention]
        return Peer("Java", words, os.path.join(self._logs, "java.log"))
