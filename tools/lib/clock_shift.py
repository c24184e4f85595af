"""A wall clock of its own for a process, that can be moved while it runs: of each server of an instance, for one."""

from __future__ import annotations

import os
import struct
import subprocess

from instances import EngineError, Instance, Node

COMPILE_S_MAX = 20
SHIFT_S_MAX = 10 * 365 * 86400.0
_SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "clock_shift.c")


def make(instance: Instance) -> None:
    compile_to(_library(instance))


def compile_to(library: str, source: str = _SOURCE) -> None:
    """To be preloaded into a process."""
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", library, source]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_S_MAX, check=False)
    except FileNotFoundError:
        raise EngineError("--clock-shift needs the C compiler cc (run tools/setup)") from None
    if done.returncode != 0:
        raise EngineError(f"cc could not compile {source}:\n{done.stderr.strip()}")


def environment(instance: Instance, node: Node) -> dict[str, str]:
    """For the server's start. What a clock is off stays the same over a restart."""
    if not os.path.exists(_offset(instance, node)):
        begin(_offset(instance, node))
    # Relative, because a space in the path would make two libraries of it.
    library = os.path.relpath(_library(instance), instance.node_folder(node))
    return {"LD_PRELOAD": library, "TYER_CLOCK_SHIFT": _offset(instance, node)}


def move(instance: Instance, node: Node, seconds: float) -> None:
    """From now on the server is this far ahead of the real time (behind, if negative)."""
    if not instance.options.get("clock_shift"):
        raise EngineError(f"the clocks of {instance.id} cannot be moved: it was started without --clock-shift", 2)
    if not abs(seconds) <= SHIFT_S_MAX:
        raise EngineError(f"a clock can be moved by at most {SHIFT_S_MAX:g} s", 2)
    put(_offset(instance, node), seconds)


def begin(offset: str) -> None:
    """The file that says how far a clock is off. To be there before the process starts."""
    with open(offset, "wb") as file:
        file.write(struct.pack("q", 0))


def put(offset: str, seconds: float) -> None:
    # In place, not by a new file: the process has this one mapped. Eight bytes at once, so it never sees a half.
    with open(offset, "r+b", buffering=0) as file:
        file.write(struct.pack("q", round(seconds * 1e9)))


def _library(instance: Instance) -> str:
    return os.path.join(instance.folder, "clock_shift.so")


def _offset(instance: Instance, node: Node) -> str:
    return os.path.join(instance.node_folder(node), "clock_shift")
