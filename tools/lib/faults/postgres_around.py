"""PostgreSQL with something around it: a pooler before it, or a standby behind it."""

from __future__ import annotations

import random
import time

from faults.engine import engines
from faults.postgres import LET_IN_S, Postgres

POOLER = "pooler"
IN_SYNC = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')"


class Pooled(Postgres):
    """Clients reach the server through PgBouncer only; the server itself has its faults as before."""

    @property
    def doors(self) -> list[str]:
        return [POOLER]

    def pooler_kill(self, dice: random.Random) -> None:
        """What it had passed on is carried out, and nobody is told."""
        number = self.away_begins()
        engines("kill", self.id, POOLER)
        time.sleep(dice.uniform(0.0, 1.0))
        engines("restart", self.id, POOLER)
        self.away_ends(number)

    def pooler_pause(self, dice: random.Random) -> None:
        number = self.away_begins()
        engines("pause", self.id, POOLER)
        time.sleep(dice.uniform(0.2, 2.0))
        engines("resume", self.id, POOLER)
        self.away_ends(number)


class Pair(Postgres):
    """A primary that waits for its standby, which takes its place. Nothing that was answered is forgotten by that."""

    keeps_all = False  # whoever of the two comes back is made a copy of the other
    _primary = ""

    @property
    def node(self) -> str:
        return self._primary or next(iter(self.ports))

    @property
    def doors(self) -> list[str]:
        return list(self.ports)

    def promotion(self, dice: random.Random) -> None:
        """The primary ends by kill -9. It comes back later, as a standby with a copy of the data, and is waited for from then on."""
        number = self.away_begins()
        old = self.node
        engines("kill", self.id, old)
        time.sleep(dice.uniform(0.0, 0.5))
        self._primary = engines("failover", self.id).strip()
        self._forget_connections()
        self._connect_anew()
        self._settle()
        self.away_ends(number)
        time.sleep(dice.uniform(0.5, 2.0))
        # To make the copy takes all of the machine for a moment, and then commits wait for whoever has just come.
        number = self.away_begins()
        engines("restart", self.id, old)
        self._psql.ask("ALTER SYSTEM SET synchronous_standby_names = '*'", LET_IN_S)
        self._psql.ask("SELECT pg_reload_conf()", LET_IN_S)
        self.until(lambda: self._ask(IN_SYNC), "the standby does not follow")
        self._settle()
        self.away_ends(number)

    def standby_pause(self, dice: random.Random) -> None:
        """Commits wait for it."""
        standby = next(node for node in self.ports if node != self.node)
        number = self.away_begins()
        engines("pause", self.id, standby)
        time.sleep(dice.uniform(0.2, 1.5))
        engines("resume", self.id, standby)
        self._settle()
        self.away_ends(number)
