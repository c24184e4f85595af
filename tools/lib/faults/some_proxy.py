"""A proxy before some server, for some clients."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faults.proxy import Proxy


class SomeProxy:
    """The order is carried out by the proxy that the dice choose."""

    def __init__(self, seed: int, proxies: list[Proxy]):
        self._proxies, self._dice = proxies, random.Random(seed)

    def order(self, command: str) -> str:
        return self._dice.choice(self._proxies).order(command)
