"""A connection to MariaDB that blocks: statements as text, rows as text. Just enough for whoever disturbs a server."""

from __future__ import annotations

import hashlib
import socket
import struct

LONG_PASSWORD, PROTOCOL_41, SECURE, PLUGIN_AUTH = 0x1, 0x200, 0x8000, 0x80000
WITH_DATABASE, UTF8 = 0x8, 45
OK, END, ERROR = 0x00, 0xFE, 0xFF
PACKET_MAX = 1 << 24


class Refused(Exception):
    """The server's own words."""


class Connection:
    def __init__(self, port: int, user: str, password: str, database: str, seconds: float):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        try:
            self._log_in(user, password, database)
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def ask(self, text: str) -> list[list[str | None]]:
        self._number = 0
        self._send(b"\x03" + text.encode())
        first = self._receive()
        if first[0] == ERROR:
            raise Refused(_words(first))
        if first[0] == OK:
            return []
        for _ in range(first[0]):  # the columns; fewer than 251
            self._receive()
        self._receive()
        rows = []
        while not _is_end(packet := self._receive()):
            if packet[0] == ERROR:
                raise Refused(_words(packet))
            rows.append(_cells(packet))
        return rows

    def _log_in(self, user: str, password: str, database: str) -> None:
        greeting = self._receive()
        if greeting[0] == ERROR:
            raise Refused(_words(greeting))
        after = greeting.index(0, 1) + 1  # the version
        salt = greeting[after + 4 : after + 12] + greeting[after + 31 : after + 43]
        flags = LONG_PASSWORD | PROTOCOL_41 | SECURE | PLUGIN_AUTH | WITH_DATABASE
        proof = _proof(password.encode(), salt)
        self._send(
            struct.pack("<IIB23x", flags, PACKET_MAX, UTF8) + user.encode() + b"\0" + bytes([len(proof)]) + proof
            + database.encode() + b"\0mysql_native_password\0"
        )  # fmt: skip
        answer = self._receive()
        if answer[0] == END:  # to be proved once more, with another salt
            self._send(_proof(password.encode(), answer[answer.index(0) + 1 :].rstrip(b"\0")))
            answer = self._receive()
        if answer[0] != OK:
            raise Refused(_words(answer))

    def _send(self, payload: bytes) -> None:
        self._socket.sendall(len(payload).to_bytes(3, "little") + bytes([self._number]) + payload)

    def _receive(self) -> bytes:
        head = self._exactly(4)
        self._number = (head[3] + 1) % 256
        return self._exactly(int.from_bytes(head[:3], "little"))

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionError("the server has closed the connection")
            data += part
        return data


def _proof(password: bytes, salt: bytes) -> bytes:
    """Of mysql_native_password."""
    once = hashlib.sha1(password).digest()
    mask = hashlib.sha1(salt + hashlib.sha1(once).digest()).digest()
    return bytes(a ^ b for a, b in zip(once, mask)) if password else b""


def _is_end(packet: bytes) -> bool:
    return packet[0] == END and len(packet) < 9


def _words(packet: bytes) -> str:
    code = int.from_bytes(packet[1:3], "little")
    return f"{code} {packet[3:].decode(errors='replace')}"


def _cells(packet: bytes) -> list[str | None]:
    cells: list[str | None] = []
    at = 0
    while at < len(packet):
        first, at = packet[at], at + 1
        if first == 0xFB:
            cells.append(None)
            continue
        if first > 0xFB:
            width = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
            first, at = int.from_bytes(packet[at : at + width], "little"), at + width
        cells.append(packet[at : at + first].decode(errors="replace"))
        at += first
    return cells
