"""An advisory lock on a file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

LOCK_S_MAX = 60.0


@contextlib.contextmanager
def locked(path: str, wait: bool = True):
    """Holds it; without `wait` yields False when another process has it."""
    deadline = time.monotonic() + LOCK_S_MAX
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not wait:
                    yield False
                    return
                if time.monotonic() > deadline:
                    raise TimeoutError(f"another command has held {path} for {LOCK_S_MAX:g} s") from None
                time.sleep(0.002)
        yield True
    finally:
        os.close(handle)
