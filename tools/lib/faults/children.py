"""Programs of the lab that we start, and that must be gone when we are."""

from __future__ import annotations

import os
import select
import signal
import subprocess

READY_S_MAX = 10.0


class LabError(Exception):
    """The lab itself does not work: there is no verdict. The text is for the user."""


class Child:
    """One process in a session of its own. Its errors go to a file, its first line of output says that it is ready.

    To be started from the main thread only: the programs ask the kernel to be killed when the *thread* that started
    them ends, so that nothing is left even if we are killed.
    """

    def __init__(self, command: list[str], errors: str, environment: dict[str, str] | None = None):
        self.name = os.path.basename(command[0])
        self.errors = errors
        with open(errors, "wb") as file:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=file,
                start_new_session=True,
                env=os.environ | (environment or {}),
            )
        self.pid = self._process.pid

    def first_line(self) -> str:
        """What it says when it is ready."""
        output = self._process.stdout
        if not select.select([output], [], [], READY_S_MAX)[0]:
            raise LabError(f"{self.name} was not ready within {READY_S_MAX:g} s")
        line = output.readline().decode().strip()
        if not line:
            raise LabError(f"{self.name} ended at once: {self.complaints()}")
        return line

    def complaints(self) -> str:
        with open(self.errors, encoding="utf-8", errors="replace") as file:
            return file.read().strip()

    def ended(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def send(self, number: int) -> None:
        self._process.send_signal(number)  # does nothing if it has ended: the pid cannot have been reused

    def wait(self, seconds: float) -> bool:
        try:
            self._process.wait(max(0.0, seconds))
            return True
        except subprocess.TimeoutExpired:
            return False

    def destroy(self) -> None:
        if self._process.poll() is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._process.wait()
        self._process.stdout.close()
