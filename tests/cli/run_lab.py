"""What the tests of `tyer run` stand on beside the harness: a way to a server that can be cut, and the processes of a tyer."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import threading
import time

from harness import eventually

class Proxy:
    """A way to a server that can be cut: then nothing gets through any more, and nobody is told."""

    def __init__(self, uri: str):
        scheme, self._server = uri.split("://")
        host, port = self._server.split(":")
        self._upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"{scheme}://127.0.0.1:{self._listener.getsockname()[1]}"
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._cut = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def cut(self) -> None:
        self._cut.set()

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()

    def _serve(self) -> None:
        while not self._closed.is_set():
            if self._cut.is_set():
                time.sleep(0.02)
                continue
            for key, _ in self._selector.select(0.05):
                if key.fileobj is self._listener:
                    self._accept()
                elif not self._cut.is_set():
                    self._pass_on(key.fileobj, key.data)

    def _accept(self) -> None:
        one = self._listener.accept()[0]
        other = socket.create_connection(self._upstream)
        for end, far in ((one, other), (other, one)):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(end, selectors.EVENT_READ, far)

    def _pass_on(self, here: socket.socket, there: socket.socket) -> None:
        try:
            if data := here.recv(65536):
                return there.sendall(data)
        except OSError:
            pass
        for end in (here, there):
            with contextlib.suppress(KeyError):
                self._selector.unregister(end)
            end.close()


def comm(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def state(pid: int) -> str:
    """One letter, as in ps; empty: there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def alive(pid: int) -> bool:
    return state(pid) not in ("", "Z", "X")


class Trio:
    """The three processes of a `tyer run`: the front, which was started, the keeper and the guardian."""

    def __init__(self, front: int):
        self.front = front
        self.keeper = eventually(lambda: self._child("tyer-keeper"), what="a keeper")
        self.guardian = eventually(lambda: self._child("tyer-guardian"), what="a guardian")

    def _child(self, name: str) -> int:
        return next((pid for pid in children(self.front) if comm(pid) == name), 0)

    def command(self) -> int:
        """The command's pid, once it runs."""
        return eventually(lambda: next((p for p in children(self.guardian) if comm(p) not in ("tyer", "tyer-guardian")), 0),
                     what="a command")


def send(sig: signal.Signals, *pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sig)
