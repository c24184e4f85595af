"""psql, kept open: one question after the other, each with a time limit."""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from urllib.parse import unquote, urlsplit

ANSWER_S_MAX = 2.0
_END = "-- that was all --"


class PsqlError(OSError):
    pass


class Psql:
    """Safe to use from several threads; one question at a time. Begins anew after whatever went wrong."""

    def __init__(self, uri: str):
        # Not in the words of the command, which everybody can read.
        to = urlsplit(uri)
        self._where = {
            "PGHOST": to.hostname, "PGPORT": str(to.port), "PGUSER": unquote(to.username), "PGPASSWORD": unquote(to.password),
            "PGDATABASE": to.path[1:], "PGAPPNAME": "lab",
        }  # fmt: skip
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, text: str, seconds: float = ANSWER_S_MAX) -> list[str]:
        """The lines of the answer, columns between bars."""
        with self._lock:
            try:
                return self._ask(text, time.monotonic() + seconds)
            except BaseException:
                self._end()
                raise

    def _ask(self, text: str, deadline: float) -> list[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", "-"], env=os.environ | self._where,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
            )  # fmt: skip
        self._send(f"{text};\n\\echo {_END}\n")
        got = b""
        while f"{_END}\n".encode() not in got:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise PsqlError(f"the server does not answer: {text[:60]}")
            more = os.read(self._process.stdout.fileno(), 1 << 16)
            if not more:
                raise PsqlError(f"psql ended: {got.decode(errors='replace')[-300:]}")
            got += more
        return [line for line in got.decode().split("\n") if line and line != _END]

    def _send(self, words: str) -> None:
        self._process.stdin.write(words.encode())

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
        self._process = None

    def close(self) -> None:
        with self._lock:
            self._end()
