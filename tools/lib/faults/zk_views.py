"""What each of ZooKeeper's servers takes for the truth: they may not agree for good, by a fault of their own."""

from __future__ import annotations

import glob
import os
import re
import time
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

AGREE_S = 5.0  # what one has and another has not for so long, while both say what they have, it will always have
LOOK_EVERY_S = 0.2
SHOWN = 3
_ENDED = re.compile(r"Severe unrecoverable error, from thread : (\w+)")


def differences(views: Callable[[], dict[str, set[str]]], seconds: float = AGREE_S) -> dict[str, set[str]]:
    """By server: what it has all the time and some other has never."""
    deadline = time.monotonic() + seconds
    there = all_of_them = views()
    while True:
        odd = {
            node: has - set.intersection(*(others for other, others in all_of_them.items() if other != node))
            for node, has in there.items()
        }
        odd = {node: has for node, has in odd.items() if has}
        if not odd or time.monotonic() > deadline:
            return odd
        time.sleep(LOOK_EVERY_S)
        now = views()
        there = {node: has & now[node] for node, has in there.items()}
        all_of_them = {node: has | now[node] for node, has in all_of_them.items()}


def told(odd: dict[str, set[str]]) -> list[str]:
    return [
        f"{node} has {len(has)} nodes that another server has not: {', '.join(sorted(has)[:SHOWN])}"
        for node, has in sorted(odd.items())
    ]


def ended_threads(log: str) -> Counter[str]:
    """By name: a server goes on as if nothing had been, with what the thread had not written down yet."""
    return Counter(_ENDED.findall(log))


def copy_written(data: str, to: str) -> None:
    """What a server has written to its logs, without the room that it has made for more."""
    for path in glob.glob(os.path.join(data, "version-2", "log.*")):
        with open(path, "rb") as log, open(f"{to}.{os.path.basename(path)}", "wb") as copy:
            copy.write(log.read().rstrip(b"\0"))
