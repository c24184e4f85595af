"""The proxy between the clients and the server, and the commands it takes."""

from __future__ import annotations

import os
import socket
import threading

from faults import redis_scripts
from faults.children import Child, LabError

# Which script of the Redis engine belongs to which kind of request.
SCRIPT_KINDS = {
    "acquire": "acquire",
    "release": "release",
    "keep_holds": "keep",
    "keep_waiters": "wait",
    "convert": "convert",
}
KINDS = ("acquire", "claim", "keep", "wait", "release", "convert", "lease")


def redis_rules(build: str) -> str:
    """How the proxy knows the scripts: by their digests."""
    scripts = redis_scripts.embedded(build)
    return "".join(f"sha {one.sha1} {kind}\n" for name, kind in SCRIPT_KINDS.items() for one in scripts[name])


class Proxy:
    """Safe to use from several threads."""

    def __init__(self, program: str, folder: str, name: str, upstream: int, rules: str, speaks: str, seed: int):
        base = os.path.join(folder, name)
        path = base + ".rules"
        with open(path, "w", encoding="ascii") as file:
            file.write(rules)
        control = base + ".control"
        command = [program, "--upstream", str(upstream), "--control", control, "--rules", path, "--seed", str(seed)]
        command += ["--history", base + ".hist", "--speaks", speaks]
        self._child = Child(command, base + ".err")
        self.port = int(self._child.first_line().removeprefix("port "))
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(5.0)
        self._socket.connect(control)
        self._answers = self._socket.makefile("r")
        self._lock = threading.Lock()

    def order(self, command: str) -> str:
        with self._lock:
            self._socket.sendall(command.encode() + b"\n")
            answer = self._answers.readline().strip()
        if not answer.startswith("ok"):
            raise LabError(f"the proxy, told to '{command}', said '{answer}' {self._child.complaints()}")
        return answer[3:]

    def dropped(self) -> dict[str, int]:
        """How many replies of each kind never arrived."""
        words = dict(word.split("=") for word in self.order("stats").split())
        return {kind: int(words[kind].split("/")[1]) for kind in KINDS}

    def destroy(self) -> None:
        self._child.destroy()
        self._answers.close()
        self._socket.close()
