"""The bus between the nodes of a cluster, led through us, so that one of them can be cut off while clients reach it."""

from __future__ import annotations

import selectors
import socket
import threading

HEADER = 80  # of a message: who sent it is at its end
SENDER = slice(40, 80)


class _Link:
    """One node's connection to another, and its twin. Until the first message it is not known whose it is."""

    def __init__(self, node: str, inner: socket.socket, outer: socket.socket):
        self.node, self.inner, self.outer = node, inner, outer  # the node that was called; the caller's side; its side
        self.first = b""
        self.sender = ""


class Bus:
    """node: the id that a node has in the cluster. One thread does the carrying."""

    def __init__(self, ports: dict[str, int]):
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._links: set[_Link] = set()
        self._apart: set[str] = set()
        self._listeners = []
        self.ports: dict[str, int] = {}  # where to reach a node through us
        for node, port in ports.items():
            listener = socket.create_server(("127.0.0.1", 0))
            listener.setblocking(False)
            self.ports[node] = listener.getsockname()[1]
            self._selector.register(listener, selectors.EVENT_READ, (node, port))
            self._listeners.append(listener)
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def cut_off(self, node: str) -> None:
        """Its messages reach nobody, and nobody's reach it."""
        with self._lock:
            self._apart.add(node)
            for link in [link for link in self._links if self._is_cut(link)]:
                self._close(link)

    def join(self) -> None:
        with self._lock:
            self._apart.clear()

    def destroy(self) -> None:
        self._wake.close()
        self._thread.join()
        with self._lock:
            for link in list(self._links):
                self._close(link)
        for listener in self._listeners:
            listener.close()
        self._woken.close()
        self._selector.close()

    def _is_cut(self, link: _Link) -> bool:
        return bool(link.sender) and (link.sender in self._apart) != (link.node in self._apart)

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._woken:
                    return
                with self._lock:
                    if isinstance(key.data, tuple):
                        self._accept(key.fileobj, *key.data)
                    elif key.data in self._links:
                        self._carry(key.data, key.fileobj)

    def _accept(self, listener: socket.socket, node: str, port: int) -> None:
        try:
            inner, _ = listener.accept()
        except OSError:
            return
        try:
            outer = socket.create_connection(("127.0.0.1", port), timeout=1.0)
        except OSError:
            inner.close()
            return
        link = _Link(node, inner, outer)
        self._links.add(link)
        for side in (inner, outer):
            side.settimeout(1.0)  # messages are small; whoever does not take them is stopped
            self._selector.register(side, selectors.EVENT_READ, link)

    def _carry(self, link: _Link, side: socket.socket) -> None:
        try:
            data = side.recv(65536)
            if not data:
                raise ConnectionError
            if side is link.inner and not link.sender:
                link.first += data
                if len(link.first) < HEADER:
                    return
                link.sender, data = link.first[SENDER].decode(errors="replace"), link.first
                if self._is_cut(link):
                    raise ConnectionError
            (link.outer if side is link.inner else link.inner).sendall(data)
        except OSError:
            self._close(link)

    def _close(self, link: _Link) -> None:
        self._links.discard(link)
        for side in (link.inner, link.outer):
            self._selector.unregister(side)
            side.close()
