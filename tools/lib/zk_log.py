"""What a ZooKeeper server has written down: how nodes and sessions ended, when, and by whose wish.

A server that is asked tells what is; only its log tells when it came to be so, by the leader's clock, to the millisecond.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

MAGIC = b"ZKLG"
FILE_HEADER = 16  # magic, version, number of the data
RECORD_HEADER = 12  # checksum, length
CREATES, DELETE, MULTI, CLOSE = (1, 15), 2, 14, -11
_HEADER = struct.Struct(">qiqqi")  # session, request, transaction, milliseconds since 1970, kind


@dataclass(frozen=True)
class End:
    at_ns: int  # since 1970; not later than anybody could see it
    asked_for: bool  # by the client; else the servers ended the session


class Log:
    """Of one server, read once, from its folder of data."""

    def __init__(self, data: str):
        self.owners: dict[str, int] = {}
        self._ends: dict[str, End] = {}
        self._sessions: dict[int, End] = {}
        folder = os.path.join(data, "version-2")
        logs = [name for name in os.listdir(folder) if name.startswith("log.")]
        for name in sorted(logs, key=lambda name: int(name[4:], 16)):
            with open(os.path.join(folder, name), "rb") as file:
                self._read(file.read())

    def end_of(self, path: str) -> End | None:
        """Of a node: by itself, or with the session that has made it."""
        return self._ends.get(path) or self._sessions.get(self.owners.get(path, 0))

    def _read(self, all_of_it: bytes) -> None:
        if not all_of_it.startswith(MAGIC):
            raise OSError("not a log of ZooKeeper's")
        at = FILE_HEADER
        while at + RECORD_HEADER <= len(all_of_it):
            size = struct.unpack_from(">i", all_of_it, at + 8)[0]
            at += RECORD_HEADER
            if size <= 0 or at + size > len(all_of_it):
                return  # room that is not used yet, or a record that is being written
            self._note(all_of_it[at : at + size])
            at += size + 1  # and a sign that it is whole

    def _note(self, record: bytes) -> None:
        session, request, _, ms, kind = _HEADER.unpack_from(record)
        end, body = End(ms * 1_000_000, request != 0), record[_HEADER.size :]
        if kind == CLOSE:
            self._sessions.setdefault(session, end)
        elif kind == MULTI:
            count, at = struct.unpack_from(">i", body)[0], 4
            for _ in range(count):
                what, size = struct.unpack_from(">ii", body, at)
                self._note_one(session, end, what, body[at + 8 : at + 8 + size])
                at += 8 + size
        else:
            self._note_one(session, end, kind, body)

    def _note_one(self, session: int, end: End, kind: int, body: bytes) -> None:
        if kind not in (*CREATES, DELETE):
            return
        size = struct.unpack_from(">i", body)[0]
        path = body[4 : 4 + size].decode()
        if kind == DELETE:
            self._ends.setdefault(path, end)
        else:
            self.owners[path] = session
