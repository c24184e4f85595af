"""The Lua scripts exactly as the build has embedded them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from faults.children import LabError

_ROW = re.compile(r'const script (\w+)\{"\w+", R"lua\((.*?)\)lua", "([0-9a-f]{40})"\}', re.DOTALL)
NEEDED = {"acquire", "release", "keep_holds", "keep_waiters", "convert", "show"}


@dataclass
class Script:
    text: str
    sha1: str


def embedded(build: str) -> dict[str, list[Script]]:
    """By name; of each there are as many as there are ways to run it. The first is the one for a single server."""
    path = os.path.join(build, "src", "engines", "redis", "scripts.cpp")
    try:
        with open(path, encoding="utf-8") as file:
            rows = _ROW.findall(file.read())
    except OSError as error:
        raise LabError(f"cannot read the Redis scripts: {error}") from None
    found: dict[str, list[Script]] = {}
    for name, text, sha1 in rows:
        found.setdefault(name, []).append(Script(text, sha1))
    if not NEEDED <= found.keys():
        raise LabError(f"{path} has no script {', '.join(sorted(NEEDED - found.keys()))}")
    return found
