"""What etcd is asked as JSON over HTTP: every server has the way from JSON to its own protocol built in."""

from __future__ import annotations

import base64
import http.client
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

ANSWER_S_MAX = 2.0


class Refused(Exception):
    """It answered, with an error. The text is its own."""


def ask(
    port: int,
    path: str,
    words: dict,
    seconds: float = ANSWER_S_MAX,
    tls: ssl.SSLContext | None = None,
    token: str = "",  # of whom the server knows
) -> dict:
    """OSError: no answer, so nobody knows whether it was done."""
    if tls:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=seconds, context=tls)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        headers = {"Content-Type": "application/json"} | ({"Authorization": token} if token else {})
        connection.request("POST", f"/v3/{path}", json.dumps(words), headers)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        if answer.status != 200:
            raise Refused(text.strip())
        return json.loads(text)
    except http.client.HTTPException as error:
        raise OSError(f"the server broke off: {error!r}") from None
    finally:
        connection.close()


def binary(raw: bytes) -> str:
    """As keys and values are written."""
    return base64.b64encode(raw).decode("ascii")
