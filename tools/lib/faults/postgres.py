"""One PostgreSQL server, and what may happen to it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faults.children import LabError
from faults.engine import Servers, engines
from faults.history import now_ns
from faults.psql import Psql
from faults.slowness import Slowness

if TYPE_CHECKING:
    from faults.lab import Lab
    from faults.proxy import Proxy

QUICK_S = 1.0  # for what the timeline must not wait for
LET_IN_S = 10.0  # psql, to start and be let in, on a busy machine
CLIENTS = "application_name = 'tyer'"
NOW = "(extract(epoch FROM clock_timestamp())*1000000)::bigint"
# Who would be in somebody's way now.
ALIVE = f"""
SELECT 'hold', convert_from(l.name, 'UTF8') FROM tyer_lock l LEFT JOIN tyer_session s ON s.id = l.session
  WHERE (l.hold IS NOT NULL OR l.state IS NOT NULL) AND (l.expires > {NOW} OR (s.expires > {NOW} AND NOT s.ended))
UNION ALL SELECT 'place', convert_from(name, 'UTF8') FROM tyer_wait WHERE expires > {NOW}
"""


class Postgres(Servers):
    """Each half of the clients goes through a proxy of its own. Nothing is forgotten here: what was answered is on disk."""

    def uris(self, lab: Lab) -> list[str]:
        self._halves = [
            {node: lab.make_proxy(f"{half}-{node}", self.ports[node], rules="", speaks="any") for node in self.doors}
            for half in ("these", "those")
        ]
        lab.proxy = next(iter(self._halves[0].values()))
        lab.callback(self._forget_connections)
        self._connect_anew()
        lab.callback(Slowness(self.history, [self.node], self._answers).end)
        return [self._through(half) for half in self._halves]

    def _through(self, half: dict[str, Proxy]) -> str:
        uri = self.uri
        for node, proxy in half.items():
            uri = uri.replace(f":{self.ports[node]}", f":{proxy.port}")
        return uri

    # --- which of its processes is which ---

    @property
    def node(self) -> str:
        """The server, and what `tools/engines` is to be told when only that is meant."""
        return next(iter(self.ports))

    @property
    def doors(self) -> list[str]:
        """Whom the clients connect to."""
        return [self.node]

    @property
    def direct(self) -> str:
        """The server itself, past everything that stands before it."""
        at = urlsplit(self.uri)
        return f"postgres://{at.netloc.rpartition('@')[0]}@127.0.0.1:{self.ports[self.node]}{at.path}"

    def _connect_anew(self) -> None:
        self._psql, self._pulse = Psql(self.direct), Psql(self.direct)

    def _forget_connections(self) -> None:
        self._psql.close()
        self._pulse.close()

    # --- what the server says ---

    def _answers(self, _: str, seconds: float = QUICK_S) -> bool:
        """As a client asks: something is written, and is on disk."""
        with contextlib.suppress(OSError):
            self._pulse.ask("SELECT txid_current()", seconds)
            return True
        return False

    def _ask(self, text: str, seconds: float = QUICK_S) -> list[str] | None:
        """None if it does not answer, or refuses."""
        with contextlib.suppress(OSError):
            return self._psql.ask(text, seconds)
        return None

    def _settle(self) -> None:
        self.until(lambda: self._answers(self.node, LET_IN_S), "the server does not answer")

    def leftovers(self, build: str, seconds: float) -> list[str]:
        self._psql.close()  # the server may have been started anew since
        deadline = time.monotonic() + seconds
        while True:
            found = self._psql.ask(ALIVE, LET_IN_S)
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.1)

    # --- what an operator does; quick. Gives back words for the log, or None if it could not be done just now ---

    def connections_ended(self, dice: random.Random) -> str | None:
        count = dice.choice((1, 1, 3, 100))
        ended = self._ask(
            f"SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE {CLIENTS}"
            f" ORDER BY random() LIMIT {count}) b"
        )
        return f"{len(ended)} connections" if ended else None

    def statements_cancelled(self, dice: random.Random) -> str | None:
        """Of whoever is busy just now: also in the midst of a commit."""
        done = self._ask(f"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE {CLIENTS} AND state = 'active'")
        return None if done is None else f"{len(done)} statements"

    def vacuum(self, dice: random.Random) -> str | None:
        table = dice.choice(("tyer_lock", "tyer_wait", "tyer_session"))
        return None if self._ask(f"VACUUM {table}") is None else table

    # --- what may happen. Each gives back when all is well again ---

    def server_kill(self, dice: random.Random) -> None:
        number = self.away_begins()
        engines("kill", self.id, self.node)
        time.sleep(dice.uniform(0.0, 1.2))
        engines("restart", self.id, self.node)
        self._settle()
        self.away_ends(number)

    def server_restart(self, dice: random.Random) -> None:
        """In good order: everybody is told that it shuts down."""
        number = self.away_begins()
        engines("restart", self.id, self.node)
        self._settle()
        self.away_ends(number)

    def backend_crash(self, dice: random.Random) -> None:
        """One process of the server ends by a signal: it ends all the others, and begins anew."""
        pids = self._ask(f"SELECT pid FROM pg_stat_activity WHERE {CLIENTS}") or []
        if not pids:
            return
        number = self.away_begins()
        with contextlib.suppress(ProcessLookupError):  # it was quicker
            os.kill(int(dice.choice(pids)), signal.SIGKILL)
        time.sleep(0.2)
        self._settle()
        self.away_ends(number)

    def server_pause_short(self, dice: random.Random) -> None:
        self._pause(dice.uniform(0.1, 0.7))

    def server_pause_long(self, dice: random.Random) -> None:
        """Longer than any lease and any patience: what was sent is carried out when everybody has given it up."""
        self._pause(dice.uniform(1.5, 3.0))

    def _pause(self, seconds: float) -> None:
        number = self.away_begins()
        engines("pause", self.id, self.node)
        time.sleep(seconds)
        engines("resume", self.id, self.node)
        self._settle()
        self.away_ends(number)

    def clients_without_it(self, dice: random.Random) -> None:
        """Half of the clients, refused or without an answer; the others go on."""
        half, order = dice.choice(self._halves).values(), dice.choice(("cut", "freeze"))
        number = self.away_begins()
        for proxy in half:
            proxy.order(order)
        time.sleep(dice.uniform(0.3, 2.0))
        for proxy in half:
            proxy.order("pass")
        self.away_ends(number)

    def table_locked(self, dice: random.Random) -> None:
        """By a migration, or somebody's LOCK TABLE: statements wait for it, and give up."""
        table = dice.choice(("tyer_lock", "tyer_wait", "tyer_session"))
        seconds = dice.uniform(0.2, 1.5)
        # By a connection of its own: the timeline must not wait for it, and then do all at once what was due meanwhile.
        somebody = Psql(self.direct)
        number = self.away_begins()
        try:
            somebody.ask(f"BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep({seconds}); COMMIT", 10.0)
        except OSError as error:
            raise LabError(f"{table} could not be locked: {error}") from None
        finally:
            somebody.close()
        self.away_ends(number)

    def clock_ahead(self, dice: random.Random) -> None:
        """Leases end a second early, which is noted as a loss; when it is put right, what the dead have left stays for a
        second too long."""
        self._clock(dice, 1.0)

    def clock_behind(self, dice: random.Random) -> None:
        self._clock(dice, -1.0)

    def _clock(self, dice: random.Random, seconds: float) -> None:
        before = 0.0
        for shift in (seconds, 0.0):
            new_from = now_ns()
            engines("clock", self.id, self.node, f"{shift:g}")
            if shift > before:
                self.lost(new_from, now_ns())
            before = shift
            time.sleep(dice.uniform(1.0, 2.0))
