"""Which port is whose: claimed for all stores of this user, as a server that is dead wants its own back."""

from __future__ import annotations

import contextlib
import os
import socket

from locked_file import locked

# Ports are taken below the range the kernel gives to outgoing connections. Above it, a client that
# retries while its server is down can be given the server's port, or even connect to itself.
PORT_MIN = 10000
PORT_MAX = 65535
PORT_TRIES_MAX = 400


class Claims:
    """One symbolic link for each port: it leads to the folder of the instance, and is void when that is gone."""

    def __init__(self, folder: str | None = None):
        self.folder = folder or f"/tmp/tyer-ports-{os.getuid()}"
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        if os.stat(self.folder).st_uid != os.getuid():
            raise PermissionError(f"{self.folder} belongs to another user")

    @contextlib.contextmanager
    def held(self):
        """For this command alone."""
        with locked(os.path.join(self.folder, "lock")):
            yield

    def others(self, owner: str) -> set[int]:
        """The ports of everybody else. What nobody has any more is cleared away, and so is what the owner had."""
        found = set()
        for name in os.listdir(self.folder):
            if not name.isdigit():
                continue
            link = os.path.join(self.folder, name)
            if os.path.exists(link) and os.readlink(link) != owner:
                found.add(int(name))
            else:
                os.remove(link)
        return found

    def add(self, ports: set[int], owner: str) -> None:
        for port in ports:
            os.symlink(owner, os.path.join(self.folder, str(port)))


def find_free(taken: set[int], offsets: list[int]) -> int:
    """A port that is free together with those that lie above it by the offsets."""
    span = _port_limit() - max(offsets) - PORT_MIN
    for _ in range(PORT_TRIES_MAX):
        wish = PORT_MIN + int.from_bytes(os.urandom(4), "big") % span if span > 1000 else 0
        if wish in taken:
            continue
        first = _can_bind(wish)
        ports = [first + offset for offset in offsets]
        if first and all(port <= PORT_MAX and port not in taken and _can_bind(port) for port in ports):
            return first
    raise OSError("found no free port on 127.0.0.1")


def listener(port: int) -> str:
    """Who listens there, for a message: its pid and name, as far as they can be read; "nobody" if it is free by now."""
    wanted = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not wanted:
        return "nobody"
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if any(os.readlink(entry.path) in wanted for entry in os.scandir(f"/proc/{pid}/fd")):
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    return f"process {pid} ({file.read().strip()})"
    return "another process"


def _listening_inodes(port: int) -> list[str]:
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(table, encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
            found += [row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port]
    return found


def _port_limit() -> int:
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            return int(file.read().split()[0])
    except OSError:
        return 32768


def _can_bind(port: int) -> int:
    """The port bound (0 lets the kernel choose), or 0 if it is in use."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
        return probe.getsockname()[1]
