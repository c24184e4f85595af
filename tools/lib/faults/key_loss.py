"""One key of a name in Redis is gone, and the others are not: evicted, deleted by hand, or lost in a migration."""

from __future__ import annotations

import random
import time

import resp
from faults import names
from faults.engine import Servers
from faults.history import LostBy, now_ns

# The state of a name says in a byte whether anybody has it (src/engines/redis/scripts/holders.lua).
_TAKE_AWAY = """
local key = KEYS[1]
local text = redis.call('TYPE', key).ok == 'string' and redis.call('GETRANGE', key, 2, 2) or ''
if redis.call('DEL', key) == 0 then return -1 end
return #text > 0 and string.byte(text) or 0
"""
_HELD, _MANY = 1, 16
AT_A_TIME = 3


class KeyLoss(Servers):
    """Whoever holds may be forgotten, if the key told of holds: only then two are excused, and only of that name. Whoever
    waits may have lost the place, and must be served all the same."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._torn: set[str] = set()

    def keeper_of(self, number: int) -> str:
        """The server that has this name."""
        raise NotImplementedError

    def leftovers(self, build: str, seconds: float) -> list[str]:
        """Of a name that was torn apart, what has a TTL may stay until that is over: nobody may come to clear it away."""
        return [words for words in super().leftovers(build, seconds) if not self._dies_by_itself(words)]

    def _dies_by_itself(self, words: str) -> bool:
        return "expires in" in words and any(words.startswith(key) for key in self._torn)

    # What may happen.

    def state_lost(self, dice: random.Random) -> None:
        self._some(dice, "")

    def queue_lost(self, dice: random.Random) -> None:
        self._some(dice, "q")

    def waiters_lost(self, dice: random.Random) -> None:
        self._some(dice, "w")

    def holders_lost(self, dice: random.Random) -> None:
        self._some(dice, "h")

    def _some(self, dice: random.Random, letter: str) -> None:
        """Those of names that have one just now; first of a name that somebody keeps, since there many wait for long."""
        for first in ([names.KEPT_FIRST, names.KEPT_FIRST] + [0] * AT_A_TIME)[:AT_A_TIME]:
            lost: list[int] = []
            self.look_back()
            self.until(lambda: lost or self._one(dice, first, letter, lost), f"no name has a key {letter or 'of state'}")
            time.sleep(dice.uniform(0.1, 0.5))

    def _take_away(self, node: str, key: str) -> int | None:
        """What the state said, -1 if there was no key; None if the server has just been replaced. Not to be asked twice: if
        the connection ends, it may have been done, and whoever held may be forgotten."""
        try:
            with self.connect_to(self.ports[node]) as connection:
                return connection.ask("EVAL", _TAKE_AWAY, "1", key)
        except resp.ReplyError:
            return None
        except OSError:
            return _HELD

    def _one(self, dice: random.Random, first: int, letter: str, lost: list[int]) -> bool:
        for number in dice.sample(range(first, names.COUNT), names.COUNT - first):
            node, new_from = self.keeper_of(number), now_ns()
            flags = self._take_away(node, names.key(number) + letter)
            if flags is None:
                return False
            if flags < 0:
                continue
            held = letter == "h" or (letter == "" and (flags & _HELD or flags & _MANY))
            self.lost(new_from, now_ns(), LostBy.NOTHING_SPECIAL if held else LostBy.PLACES, 1 << number)
            lost.append(number)
            self._torn.add(names.key(number))
            return True
        return False
