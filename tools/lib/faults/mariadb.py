"""One MariaDB server behind a proxy, and what may happen to it and to its tables."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import mysql_wire
from faults.children import LabError
from faults.clock_jumps import ClockJumps
from faults.engine import ANSWER_S_MAX, engines
from faults.history import LostBy, now_ns
from faults.slowness import Slowness

if TYPE_CHECKING:
    from faults.lab import Lab

QUICK_S = 0.5  # for what the timeline must not wait for
AT_A_TIME = 3
# Who only locks: may neither write to a server that is read-only, nor see what others do. CREATE: the tables may be lost.
USER, PASSWORD, MAY = "locker", "locked", "SELECT, INSERT, UPDATE, DELETE, CREATE"
NOW = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))"
AHEAD_S = (1.0, 60.0, 3600.0)
BEHIND_S = 1.0  # what the dead have left stays for as much longer


class MariaDB(ClockJumps):
    _pulse: mysql_wire.Connection | None = None

    def uris(self, lab: Lab) -> list[str]:
        self._make_user()
        lab.proxy = lab.make_proxy("proxy", self.port, rules="", speaks="any")
        lab.callback(Slowness(self.history, self.ports, self._answers).end)
        return [f"mysql://{USER}:{PASSWORD}@127.0.0.1:{lab.proxy.port}/{self._database}"]

    @property
    def _database(self) -> str:
        return urlsplit(self.uri).path.lstrip("/")

    def _connect(self, seconds: float) -> mysql_wire.Connection:
        parts = urlsplit(self.uri)
        return mysql_wire.Connection(
            self.port, unquote(parts.username or ""), unquote(parts.password or ""), self._database, seconds
        )

    def _ask(self, *texts: str, seconds: float = ANSWER_S_MAX) -> list[list[str | None]]:
        """On one connection; gives back what the last was answered with."""
        try:
            with self._connect(seconds) as connection:
                return [connection.ask(text) for text in texts][-1]
        except mysql_wire.Refused as error:
            raise LabError(f"the server answered {texts[-1]} with: {error}") from None

    def _try(self, *texts: str) -> list[list[str | None]] | None:
        """None if it does not answer, or refuses."""
        try:
            return self._ask(*texts, seconds=QUICK_S)
        except (OSError, LabError):
            return None

    def _answers(self, _: str) -> bool:
        """As a client asks, on a connection that is there: something is written, and is on disk. A server that only reads is
        quick while its disk is not."""
        try:
            if self._pulse is None:
                self._pulse = self._connect(QUICK_S)
            self._pulse.ask("REPLACE INTO lab_pulse VALUES (UNIX_TIMESTAMP(NOW(6)) * 1000000 % 100)")
        except (OSError, mysql_wire.Refused):
            if self._pulse is not None:
                self._pulse.close()
            self._pulse = None
            return False
        return True

    def _make_user(self) -> None:
        self._ask(
            f"CREATE USER IF NOT EXISTS {USER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
            f"GRANT {MAY} ON {self._database}.* TO {USER}@'127.0.0.1'",
            "CREATE TABLE IF NOT EXISTS lab_pulse (n BIGINT PRIMARY KEY) ENGINE=InnoDB",
        )

    def _restart(self, down_s: float, lose_data: bool) -> None:
        super()._restart(down_s, lose_data)
        if lose_data:
            number = self.away_begins()
            self._make_user()
            self.away_ends(number)

    def leftovers(self, build: str, seconds: float) -> list[str]:
        """Rows stay for a day; nothing in them may still be in somebody's way."""
        deadline = time.monotonic() + seconds
        while True:
            found = self._ask(
                f"SELECT CONCAT('name ', name, ' for ', expires - {NOW}) FROM tyer_lock"
                f" WHERE (hold IS NOT NULL OR state IS NOT NULL) AND expires > {NOW}"
                f" UNION ALL SELECT CONCAT('place at ', name, ' for ', expires - {NOW}) FROM tyer_wait"
                f" WHERE gone = 0 AND expires > {NOW}"
                f" UNION ALL SELECT CONCAT('session ', id, ' for ', expires - {NOW}) FROM tyer_session"
                f" WHERE ended = 0 AND expires > {NOW}"
            )
            if not found or time.monotonic() > deadline:
                return [f"{row[0]} µs" for row in found]
            time.sleep(0.1)

    # --- what an operator does; quick. Gives back words for the log, or None if it could not be done just now ---

    def connections_killed(self, dice: random.Random) -> str | None:
        return self._kill(dice, "KILL", "1 = 1")

    def statements_killed(self, dice: random.Random) -> str | None:
        """Whoever has asked is told that it was interrupted."""
        return self._kill(dice, "KILL QUERY", "command <> 'Sleep'")

    def _kill(self, dice: random.Random, how: str, which: str) -> str | None:
        found = self._try(f"SELECT id FROM information_schema.processlist WHERE user = '{USER}' AND {which}")
        ids = [row[0] for row in found or []]
        chosen = dice.sample(ids, min(len(ids), dice.choice((1, AT_A_TIME, len(ids)))))
        done = [one for one in chosen if self._try(f"{how} {one}") is not None]
        return f"{len(done)} of {len(ids)}" if done else None

    def bells_lost(self, dice: random.Random) -> str | None:
        """Nobody is told of anything just now, and everybody must find out."""
        return None if self._try("DELETE FROM tyer_bell") is None else "done"

    # --- what may happen. Each gives back when all is well again ---

    def server_paused(self, dice: random.Random) -> None:
        number = self.away_begins()
        engines("pause", self.id)
        time.sleep(dice.uniform(0.2, 1.5))
        engines("resume", self.id)
        self.until(lambda: self._try("SELECT 1") is not None, "the server does not answer")
        self.away_ends(number)

    def readonly(self, dice: random.Random) -> None:
        """As a server that was a primary, and is not any more."""
        number = self.away_begins()
        self._ask("SET GLOBAL read_only = 1")
        try:
            time.sleep(dice.uniform(0.3, 1.5))
        finally:
            self._ask("SET GLOBAL read_only = 0")
        self.away_ends(number)

    def rows_locked(self, dice: random.Random) -> None:
        """By a transaction of somebody who takes its time."""
        table = dice.choice(("tyer_lock", "tyer_session", "tyer_wait"))
        number = self.away_begins()
        try:
            with self._connect(ANSWER_S_MAX) as connection:
                connection.ask("SET innodb_lock_wait_timeout = 1")
                connection.ask("START TRANSACTION")
                connection.ask(f"SELECT COUNT(*) FROM (SELECT 1 FROM {table} FOR UPDATE) t")
                time.sleep(dice.uniform(0.2, 1.2))
                connection.ask("ROLLBACK")
        except mysql_wire.Refused:  # others held them for longer
            pass
        self.away_ends(number)

    def sessions_lost(self, dice: random.Random) -> None:
        """What lives by one that is not there is over."""
        self._lose("DELETE FROM tyer_session")
        time.sleep(dice.uniform(0.1, 0.5))

    def places_lost(self, dice: random.Random) -> None:
        self._lose("DELETE FROM tyer_wait", LostBy.PLACES)
        time.sleep(dice.uniform(0.1, 0.5))

    def tables_lost(self, dice: random.Random) -> None:
        """Names never without the sessions: by these a holder finds out."""
        self._lose("DELETE l, s FROM tyer_lock l LEFT JOIN tyer_session s ON 1 = 1")
        self._lose("DELETE FROM tyer_wait", LostBy.PLACES)
        time.sleep(dice.uniform(0.1, 0.5))

    def _lose(self, text: str, how: LostBy = LostBy.NOTHING_SPECIAL) -> None:
        """Rows that are locked at this moment are waited for."""
        new_from = now_ns()
        self.until(lambda: self._try(text) is not None, f"it could not be done: {text}")
        self.lost(new_from, now_ns(), how)

    def clock_ahead(self, dice: random.Random) -> None:
        """And stays there: set back, it would keep what the dead have left for as long."""
        self.put_clock(self._shift_ns / 1e9 + dice.choice(AHEAD_S))
        time.sleep(dice.uniform(0.5, 1.5))

    def clock_behind(self, dice: random.Random) -> None:
        self.put_clock(self._shift_ns / 1e9 - BEHIND_S)
        time.sleep(dice.uniform(0.5, 1.5))
