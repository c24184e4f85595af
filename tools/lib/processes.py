"""Server processes of other programs: start them, and signal them only while they are surely still ours."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time

PR_SET_PDEATHSIG = 1
TERM_S_MAX = 5.0
KILL_S_MAX = 5.0
PAUSE_S_MAX = 2.0


ENDING_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}


class ProcessError(Exception):
    pass


@contextlib.contextmanager
def signals_held():
    """Keeps the signals that would end us waiting until the block is left."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def _fields(pid: int) -> list[bytes] | None:
    """What /proc says behind the name; None if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def _stat(pid: int) -> tuple[str, int, int] | None:
    """State letter, threads, and start time in clock ticks since boot; None if there is no such process."""
    fields = _fields(pid)
    return (fields[0].decode(), int(fields[17]), int(fields[19])) if fields else None


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass  # gone, or a kernel without this file
    found = ((int(name), _fields(int(name))) for name in os.listdir("/proc") if name.isdigit())
    return [child for child, fields in found if fields and int(fields[1]) == pid]


class Process:
    """A process named by pid *and* start time, so that a reused pid is never taken for it."""

    def __init__(self, pid: int, start: int):
        self.pid = pid
        self.start = start

    @classmethod
    def of(cls, pid: int) -> Process:
        found = _stat(pid)
        if found is None:
            raise ProcessError(f"there is no process {pid}")
        return cls(pid, found[2])

    def state(self) -> str:
        """running, paused or dead. A zombie whose threads have ended counts as dead: its sockets and files are closed."""
        found = _stat(self.pid)
        if found is None:
            return "dead"
        letter, threads, start = found
        if start != self.start or letter == "X" or (letter == "Z" and threads <= 1):
            return "dead"
        return "paused" if letter in "Tt" else "running"

    def alive(self) -> bool:
        return self.state() != "dead"

    def signal(self, number: int) -> bool:
        """Sends a signal; False if the process had ended. The handle is opened before the check: no race."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        try:
            if not self.alive():
                return False
            signal.pidfd_send_signal(handle, number)
            return True
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)

    def wait_end(self, seconds: float) -> bool:
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            if not self.alive():
                return True
            poller = select.poll()
            poller.register(handle, select.POLLIN)
            poller.poll(seconds * 1000)
        finally:
            os.close(handle)
        return not self.alive()

    def children(self) -> list[Process]:
        """Processes that a server has forked for its connections. A forked one may end while we look."""
        found = []
        for pid in _children(self.pid) if self.alive() else []:
            with contextlib.suppress(ProcessError):
                found.append(Process.of(pid))
        return found

    def kill(self) -> None:
        """Ends it and what it has forked: a server of many processes would go on serving for a while."""
        forked = self.children()
        if forked and self.signal(signal.SIGSTOP):  # no more of them from here on
            forked = self.children()
        self.signal(signal.SIGKILL)
        for process in forked:
            process.signal(signal.SIGKILL)
        for process in [self, *forked]:
            if not process.wait_end(KILL_S_MAX):
                raise ProcessError(f"process {process.pid} did not end within {KILL_S_MAX:g} s of SIGKILL")

    def stop(self, gently: int) -> None:
        """Ends it in good order, or by force if it is paused or takes too long."""
        if self.state() == "running":
            self.signal(gently)
            if self.wait_end(TERM_S_MAX):
                return
        self.kill()

    def pause(self) -> None:
        """Returns only when the process, and what it has forked, really stands still."""
        deadline = time.monotonic() + PAUSE_S_MAX
        if not self.signal(signal.SIGSTOP):
            raise ProcessError(f"process {self.pid} has ended")
        while self.state() == "running":
            if time.monotonic() > deadline:
                raise ProcessError(f"process {self.pid} did not stop within {PAUSE_S_MAX:g} s")
            time.sleep(0.001)
        for process in self.children():
            with contextlib.suppress(ProcessError):  # it had ended
                process.pause()

    def resume(self) -> None:
        for process in self.children():
            process.signal(signal.SIGCONT)
        if not self.signal(signal.SIGCONT):
            raise ProcessError(f"process {self.pid} has ended")


def spawn(
    command: list[str], folder: str, log: str, environment: dict[str, str], end_with_parent: bool
) -> subprocess.Popen:
    """Starts a server in a session of its own, with no descriptor of ours and no blocked signal."""
    prctl = None
    if end_with_parent:
        import ctypes

        prctl = ctypes.CDLL(None).prctl

    def in_child() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        if prctl:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    with open(log, "ab") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=in_child,
        )
