"""The faults: one small class for each.

A fault says how often it comes and what it does. Its dice are its own, seeded by the run's seed and its name, so that
adding one fault to a scenario does not change the others.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from faults.history import Op, now_ns

if TYPE_CHECKING:
    from faults.lab import Lab


class Fault:
    name = ""

    def names(self) -> set[str]:
        """What must have happened by the end of a run."""
        return {self.name}

    def times(self, dice: random.Random, seconds: float) -> Iterator[float]:
        raise NotImplementedError

    def strike(self, lab: Lab, dice: random.Random) -> bool:
        """Does it, and says so to the lab. False if it could not be done just now."""
        words = self.do(lab, dice)
        if words is None:
            return False
        lab.did(self.name, words)
        return True

    def do(self, lab: Lab, dice: random.Random) -> str | None:
        """Gives back words for the log, or None if it could not be done just now."""
        raise NotImplementedError

    def catch_up(self, lab: Lab, dice: random.Random) -> None:
        """After the time of the run: what has not happened once, and can take as long as it likes."""


class Regular(Fault):
    """Comes again and again, with some unrest."""

    every_s = 1.0
    unrest = 0.3

    def times(self, dice: random.Random, seconds: float) -> Iterator[float]:
        when = self.every_s * dice.uniform(0.3, 1.0)
        while when < seconds:
            yield when
            when += self.every_s * dice.uniform(1 - self.unrest, 1 + self.unrest)


class Seldom(Fault):
    """Comes at certain parts of the run, give or take a little, so that a short run sees it too."""

    parts: tuple[float, ...] = (0.5,)

    def times(self, dice: random.Random, seconds: float) -> Iterator[float]:
        for part in self.parts:
            yield seconds * (part + dice.uniform(-0.03, 0.03))


class KillClient(Regular):
    name = "client_kill"
    unrest = 0.05

    def __init__(self, every_s: float = 1.0):
        self.every_s = every_s

    def do(self, lab: Lab, dice: random.Random) -> str:
        return f"pid {lab.clients.kill_one(dice)}"


class PauseClient(Regular):
    """SIGSTOP for half a ttl to three, or more where leases are longer: the holder that believes."""

    name = "client_pause"
    at_once_max = 3

    def __init__(self, every_s: float = 1.2, ttls_max: float = 3.0):
        self.every_s, self._ttls_max = every_s, ttls_max

    def do(self, lab: Lab, dice: random.Random) -> str | None:
        child = lab.clients.stop_one(dice, self.at_once_max)
        if child is None:
            return None
        seconds = dice.uniform(0.5, self._ttls_max) * lab.load.ttl_ms / 1000
        lab.timeline.undo_after(seconds, lambda: lab.clients.resume(child))
        return f"pid {child.pid} for {seconds:.2f} s"


class MoveClientClock(Regular):
    """The wall clock of a client jumps, and back: nothing may count on it. Not for long, since what the client then asks
    the kernel to wait for is off by as much, which no real clock does."""

    name = "client_clock"
    every_s = 1.0

    def do(self, lab: Lab, dice: random.Random) -> str:
        seconds = dice.choice((-1, 1)) * dice.choice((0.3, 3.0, 3600.0))
        child = lab.clients.move_clock(dice, seconds)
        lab.timeline.undo_after(dice.uniform(0.1, 1.0), lambda: lab.clients.right_clock(child))
        return f"pid {child.pid} by {seconds:g} s"


class DropReply(Regular):
    """The server acts, and nobody hears of it. Counted by the proxy, when it has really happened."""

    name = "drop_reply"
    every_s = 0.5

    def __init__(self, *kinds: str):
        self.kinds = kinds

    def names(self) -> set[str]:
        return {f"drop_{kind}" for kind in self.kinds}

    def strike(self, lab: Lab, dice: random.Random) -> bool:
        command = f"drop {dice.choice(self.kinds)} 1 {dice.choice(('close', 'close', 'close', 'hole'))}"
        lab.proxy.order(command)
        lab.say(f"{self.name}: {command}")
        return True


class DropReplyOfClient(Regular):
    """The same where no proxy knows what goes by: whatever a client reads next is dropped. Counted when it has
    happened."""

    name = "drop_reply"
    every_s = 0.4

    def __init__(self):
        self._counted = 0

    def strike(self, lab: Lab, dice: random.Random) -> bool:
        by_silence = dice.random() < 0.25
        pid = lab.clients.drop_reply(dice, by_silence)
        lab.say(f"{self.name}: pid {pid}, then {'silence' if by_silence else 'a reset'}")
        dropped = lab.clients.replies_dropped()
        for _ in range(dropped - self._counted):
            lab.did(self.name, "done")
        self._counted = dropped
        return True


class ResetConnections(Regular):
    name = "reset"
    every_s = 4.0

    def do(self, lab: Lab, dice: random.Random) -> str | None:
        count = lab.proxy.order(f"reset {dice.choice((30, 100))}")
        return f"{count} connections" if count != "0" else None


class FreezeNetwork(Regular):
    """Nothing moves for a while; then what was under way arrives, late."""

    name = "freeze"
    every_s = 11.0

    def do(self, lab: Lab, dice: random.Random) -> str:
        seconds = dice.uniform(0.2, 0.9) * lab.load.ttl_ms / 1000
        number = lab.engine.away_begins()
        lab.proxy.order("freeze")

        def thaw() -> None:
            lab.proxy.order("pass")
            lab.engine.away_ends(number)

        lab.timeline.undo_after(seconds, thaw)
        return f"for {seconds:.2f} s"


class SlowNetwork(Regular):
    name = "delay"
    every_s = 9.0

    def do(self, lab: Lab, dice: random.Random) -> str:
        ms, jitter_ms = dice.randint(1, 20), dice.randint(0, 40)
        begin = now_ns()
        lab.proxy.order(f"delay {ms} {jitter_ms}")

        def over() -> None:
            lab.proxy.order("delay 0")
            lab.history.add(Op.HINDERED, begin, until_ns=now_ns())  # a new connection takes several answers

        lab.timeline.undo_after(dice.uniform(0.5, 1.5), over)
        return f"{ms} ms + up to {jitter_ms} ms"


class RestartServer(Seldom):
    """kill -9 with everything on disk."""

    name = "restart_with_data"
    parts = (0.2, 0.55, 0.8)
    lose_data = False

    def do(self, lab: Lab, dice: random.Random) -> str | None:
        seconds = dice.uniform(0.0, 1.2) * lab.load.ttl_ms / 1000
        return f"down for {seconds:.2f} s" if lab.engine.restart(seconds, self.lose_data) else None


class RestartServerWithoutData(RestartServer):
    name = "restart_without_data"
    parts = (0.35, 0.7)
    lose_data = True


class FlushAll(Seldom):
    name = "flushall"
    parts = (0.1, 0.28, 0.47, 0.63, 0.9)

    def do(self, lab: Lab, dice: random.Random) -> str | None:
        return "done" if lab.engine.flush_all() else None


class ScriptFlush(Regular):
    name = "script_flush"
    every_s = 5.0

    def do(self, lab: Lab, dice: random.Random) -> str | None:
        return lab.engine.ask("SCRIPT", "FLUSH")


class Turns(Fault):
    """What may happen to servers and takes its time, one after the other, in an order of the dice; each begins when the
    one before is over and all is well again, and has been for a while."""

    name = "turns"

    def __init__(self, *acts: str, rest_s: float = 0.0):
        self.rest_s = rest_s
        self._acts = acts  # methods of the engine
        self._next: list[str] = []
        self._well_since: float | None = None

    def names(self) -> set[str]:
        return set(self._acts)

    def times(self, dice: random.Random, seconds: float) -> Iterator[float]:
        yield 1.0

    def strike(self, lab: Lab, dice: random.Random) -> bool:
        """Always False: there is a next one."""
        if not self._next:
            self._next = dice.sample(self._acts, len(self._acts))
        if not self._has_rested(lab):
            return False
        name, own_dice = self._next[0], random.Random(dice.random())
        if lab.engine.start(lambda: getattr(lab.engine, name)(own_dice)):
            self._next.pop(0)
            self._well_since = None
            lab.did(name, "begins")
        return False

    def _has_rested(self, lab: Lab) -> bool:
        if lab.engine.busy.locked():
            self._well_since = None
        elif self._well_since is None:
            self._well_since = lab.timeline.now()
        return self._well_since is not None and lab.timeline.now() >= self._well_since + self.rest_s

    def catch_up(self, lab: Lab, dice: random.Random) -> None:
        while missing := [name for name in self._acts if lab.done[name] == 0]:
            lab.engine.heal()
            self._next, self._well_since = missing, -self.rest_s
            self.strike(lab, dice)


class ByOperator(Regular):
    """A method of the engine that is quick: done to whichever server it chooses."""

    def __init__(self, name: str, every_s: float):
        self.name, self.every_s = name, every_s

    def do(self, lab: Lab, dice: random.Random) -> str | None:
        return getattr(lab.engine, self.name)(dice)


class OnSomeServer(Regular):
    """A command of an operator to one of the servers, whichever role it has."""

    def __init__(self, name: str, every_s: float, *words: str):
        self.name, self.every_s, self._words = name, every_s, words

    def do(self, lab: Lab, dice: random.Random) -> str | None:
        node = dice.choice(sorted(lab.engine.ports))
        answer = lab.engine.try_node(node, *self._words)
        return None if answer is None else f"{node}: {answer}"
