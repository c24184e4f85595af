"""A ZooKeeper session, as far as the lab needs one: every packet is its length and a body of big-endian fields."""

from __future__ import annotations

import socket
import struct

CREATE, DELETE, SET_DATA, SET_ACL, GET_CHILDREN, SYNC, CLOSE = 1, 2, 5, 7, 8, 9, -11
EPHEMERAL = 1
ALL_RIGHTS = 31
EVENT, PING = -1, -2
PACKET_MAX = 64 << 20
NO_NODE, NODE_EXISTS = -101, -110


class Refused(Exception):
    """What the server answered instead of a result."""

    def __init__(self, code: int):
        super().__init__(f"error {code}")
        self.code = code


class Session:
    """One connection, and never another. Anything but an answer is an OSError."""

    def __init__(self, port: int, seconds: float, timeout_ms: int = 4000):
        self._socket = socket.create_connection(("127.0.0.1", port), seconds)
        self._socket.settimeout(seconds)
        self._number = 0
        try:
            self._send(struct.pack(">iqiq", 0, 0, timeout_ms, 0) + _text(b"\0" * 16) + b"\0")
            granted = struct.unpack_from(">ii", self._packet())[1]
        except BaseException:
            self._socket.close()
            raise
        if granted <= 0:
            self._socket.close()
            raise OSError("no session was given")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Whatever is ephemeral goes with it."""
        try:
            self._ask(CLOSE, b"")
        except (OSError, Refused):
            pass
        finally:
            self._socket.close()

    def create(self, path: str) -> None:
        self._create(path, "world", "anyone", ALL_RIGHTS, EPHEMERAL)

    def create_lasting(self, path: str, scheme: str, whose: str, rights: int) -> None:
        self._create(path, scheme, whose, rights, 0)

    def set_rights(self, path: str, scheme: str, whose: str, rights: int) -> None:
        self._ask(SET_ACL, _text(path.encode()) + _acl(scheme, whose, rights) + struct.pack(">i", -1))

    def _create(self, path: str, scheme: str, whose: str, rights: int, kind: int) -> None:
        self._ask(CREATE, _text(path.encode()) + _text(b"") + _acl(scheme, whose, rights) + struct.pack(">i", kind))

    def write(self, path: str) -> None:
        self._ask(SET_DATA, _text(path.encode()) + _text(b"") + struct.pack(">i", -1))

    def delete(self, path: str) -> None:
        self._ask(DELETE, _text(path.encode()) + struct.pack(">i", -1))

    def sync(self, path: str) -> None:
        self._ask(SYNC, _text(path.encode()))

    def children(self, path: str) -> list[str]:
        """None there: none."""
        try:
            body = self._ask(GET_CHILDREN, _text(path.encode()) + b"\0")
        except Refused as error:
            if error.code == NO_NODE:
                return []
            raise
        count, at, names = struct.unpack_from(">i", body)[0], 4, []
        for _ in range(count):
            size = struct.unpack_from(">i", body, at)[0]
            names.append(body[at + 4 : at + 4 + size].decode())
            at += 4 + size
        return names

    def _ask(self, operation: int, body: bytes) -> bytes:
        self._number += 1
        self._send(struct.pack(">ii", self._number, operation) + body)
        while True:
            answer = self._packet()
            number, _, code = struct.unpack_from(">iqi", answer)
            if number in (EVENT, PING):
                continue
            if number != self._number:
                raise OSError("an answer to something else")
            if code != 0:
                raise Refused(code)
            return answer[16:]

    def _send(self, body: bytes) -> None:
        self._socket.sendall(struct.pack(">i", len(body)) + body)

    def _packet(self) -> bytes:
        size = struct.unpack(">i", self._bytes(4))[0]
        if not 0 <= size <= PACKET_MAX:
            raise OSError("not a packet of ZooKeeper's")
        return self._bytes(size)

    def _bytes(self, size: int) -> bytes:
        got = b""
        while len(got) < size:
            part = self._socket.recv(size - len(got))
            if not part:
                raise OSError("the server has hung up")
            got += part
        return got


def _acl(scheme: str, whose: str, rights: int) -> bytes:
    return struct.pack(">ii", 1, rights) + _text(scheme.encode()) + _text(whose.encode())


def _text(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value
