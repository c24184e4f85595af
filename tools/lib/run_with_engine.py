"""`engines run`: an engine for exactly as long as one command runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import lifecycle
from instances import NoSuchEngine, Store
from kinds import Kind
from processes import ENDING_SIGNALS, Process

# After a signal the command has this long to end by itself.
SIGNALLED_S_MAX = 10.0


def run(store: Store, kind: Kind, options: dict, command: list[str]) -> int:
    """Exit code of the command, 128 + n if signal n ended it."""
    # Blocked, and taken with sigtimedwait below: no signal can come between a step and its undoing.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS | {signal.SIGCHLD})
    instance = lifecycle.up(store, kind, options, Process.of(os.getpid()), end_with_parent=True)
    try:
        environment = os.environ | {
            "TYER_URI": instance.uri,
            "TYER_ENGINE_ID": instance.id,
            "TYER_ENGINE_DIR": instance.folder,
        }
        try:
            child = subprocess.Popen(
                command, env=environment, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before)
            )
        except OSError as error:
            print(f"engines: cannot run {command[0]}: {error.strerror}", file=sys.stderr)
            return 127 if isinstance(error, FileNotFoundError) else 126
        code = _wait(child)
        return code if code >= 0 else 128 - code
    finally:
        try:
            lifecycle.down(store, instance.id)
        except NoSuchEngine:
            pass  # the command did it itself


def _wait(child: subprocess.Popen) -> int:
    kill_at = None
    while True:
        lifecycle.reap()
        code = child.poll()
        if code is not None:
            return code
        if kill_at is not None and time.monotonic() > kill_at:
            child.kill()
        got = signal.sigtimedwait(ENDING_SIGNALS | {signal.SIGCHLD}, 1.0)
        if got is None or got.si_signo == signal.SIGCHLD:
            continue
        # A terminal sends its signals to the command too; only what a process sent must be passed on.
        if got.si_code <= 0:
            child.send_signal(got.si_signo)
        if kill_at is None:
            kill_at = time.monotonic() + SIGNALLED_S_MAX
