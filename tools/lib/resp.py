"""Just enough of the Redis protocol to ask a server something over a socket."""

from __future__ import annotations

import socket


class ReplyError(Exception):
    """The server answered with an error; the text is the server's."""


class Connection:
    def __init__(self, port: int, seconds: float, tls=None):
        raw = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        try:
            self._socket = tls.wrap_socket(raw, server_hostname="127.0.0.1") if tls else raw
        except BaseException:
            raw.close()
            raise
        self._input = self._socket.makefile("rb")

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._input.close()
        self._socket.close()

    def ask(self, *words: str | bytes):
        """The answer as text, numbers and lists of them."""
        return _text(self.ask_bytes(*words))

    def ask_bytes(self, *words: str | bytes):
        """The answer with its strings as they are: names may be anything."""
        parts = [word.encode() if isinstance(word, str) else word for word in words]
        request = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        self._socket.sendall(request)
        return self._reply()

    def _reply(self):
        line = self._input.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, text = line[:1], line[1:-2].decode(errors="replace")
        if kind == b"+":
            return text
        if kind == b":":
            return int(text)
        if kind == b"-":
            raise ReplyError(text)
        if kind == b"$":
            return None if text == "-1" else self._input.read(int(text) + 2)[:-2]
        if kind == b"*":
            return None if text == "-1" else [self._reply() for _ in range(int(text))]
        raise ConnectionError(f"not the Redis protocol: {line[:40]!r}")


def _text(reply):
    if isinstance(reply, list):
        return [_text(entry) for entry in reply]
    return reply.decode(errors="replace") if isinstance(reply, bytes) else reply
