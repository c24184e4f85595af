"""Programs and servers for the stories: servers are started when they are asked for, and down when the story is over."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

ENGINES = str(pathlib.Path(__file__).resolve().parents[1] / "engines")


class Engines:
    def __init__(self):
        self._ids: list[str] = []

    def __enter__(self) -> Engines:
        return self

    def __exit__(self, *_) -> None:
        for engine in self._ids:
            subprocess.run([ENGINES, "down", engine], check=False, stdout=subprocess.DEVNULL)

    def up(self, kind: str, *options: str) -> str:
        command = [ENGINES, "up", kind, "--json", "--owner", str(os.getpid()), *options]
        made = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        self._ids.append(made["id"])
        return made["uri"]


def program(build: pathlib.Path, name: str) -> pathlib.Path:
    """Ends this program with a word if that one has not been built."""
    path = (build / "examples" / name).resolve()
    if not path.exists():
        raise SystemExit(f"{path} is not there: build it with cmake --build {build} --target tyer_stories")
    return path


def engines(*words: str) -> None:
    """tools/engines kill ID node-0, for one."""
    subprocess.run([ENGINES, *words], check=True, stdout=subprocess.DEVNULL)
