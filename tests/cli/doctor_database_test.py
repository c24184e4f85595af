#!/usr/bin/python3
"""What doctor finds at a database that is not as it should be: each on a real server that is so. TYER_KIND names the database."""

from __future__ import annotations

import contextlib
import os
import sys
import unittest
from urllib.parse import unquote, urlsplit

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import KIND, Engine, tyer_json

sys.path.insert(0, os.path.join(harness.ROOT, "tools", "lib"))
import mysql_wire
from faults.psql import Psql

# With this ttl a machine that stands still for a second says nothing about the engine.
BEARS_STALLS = ("--ttl", "10min")
LOCKER, PASSWORD = "locker", "geheim"
ANSWER_S_MAX = 20.0
TABLES = ("tyer_lock", "tyer_wait", "tyer_session", "tyer_bell")


def found(url: str, code: int | None = 0) -> dict[str, dict]:
    """What is not fine, by its words."""
    told = tyer_json(url, "doctor", *BEARS_STALLS, code=code)
    return {check["what"]: check for check in told["checks"] if check["level"] != "ok"}


class OnDatabase(harness.OnEngine):
    def assert_finds(self, words: str, level: str, advice: str, url: str | None = None, code: int | None = 0) -> str:
        """Told once, as that, with what to do about it."""
        all_found = found(url or self.url, code)
        fitting = [check for what, check in all_found.items() if words in what]
        self.assertEqual(len(fitting), 1, f"{words!r} in {all_found}")
        self.assertEqual(fitting[0]["level"], level)
        self.assertIn(advice, fitting[0]["advice"])
        return fitting[0]["what"]

    def assert_silent(self, words: str, url: str | None = None) -> None:
        self.assertEqual([what for what in found(url or self.url) if words in what], [])

    def make_locker(self, login: str, *drop: str) -> str:
        """The URL of one who has what the page says is enough; gone after this test."""
        tyer_json(self.url, "doctor", *BEARS_STALLS)  # the tables are there
        self.ask(f"CREATE {login} '{PASSWORD}'")
        self.addCleanup(self.undo, *drop)
        for table in TABLES:
            self.ask(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {LOCKER}")
        self.ask(f"GRANT SELECT ON tyer_schema TO {LOCKER}")
        to = urlsplit(self.url.split("?")[0])
        return to._replace(netloc=f"{LOCKER}:{PASSWORD}@{to.netloc.rpartition('@')[2]}").geturl()


@unittest.skipUnless(KIND == "postgres", "PostgreSQL only")
class Postgres(OnDatabase):
    def setUp(self):
        super().setUp()
        self.asks = self.stack.enter_context(contextlib.closing(Psql(self.url.split("?")[0])))

    def ask(self, text: str) -> list[str]:
        return self.asks.ask(text, ANSWER_S_MAX)

    def set(self, name: str, value: str) -> None:
        """For this test."""
        self.ask(f"ALTER SYSTEM SET {name} = '{value}'")
        self.addCleanup(self.undo, f"ALTER SYSTEM RESET {name}", "SELECT pg_reload_conf()")
        self.ask("SELECT pg_reload_conf()")
        harness.eventually(lambda: self.ask(f"SHOW {name}") == [value], what=f"{name} = {value}")

    def undo(self, *statements: str) -> None:
        with contextlib.closing(Psql(self.url.split("?")[0])) as server:
            for statement in statements:
                server.ask(statement, ANSWER_S_MAX)

    def a_locker(self) -> str:
        return self.make_locker(f"ROLE {LOCKER} LOGIN PASSWORD", f"DROP OWNED BY {LOCKER}", f"DROP ROLE {LOCKER}")

    def test_a_server_as_it_comes_has_nothing_wrong(self):
        told = tyer_json(self.url, "doctor", *BEARS_STALLS)
        self.assertIn("the engine finds nothing wrong with its version and its settings", [c["what"] for c in told["checks"]])

    def test_fsync_is_off(self):
        self.set("fsync", "off")
        self.assert_finds("fsync is off", "warning", "fsync = on")

    def test_synchronous_commit_is_off_for_the_role_that_locks(self):
        url = self.a_locker()
        self.assert_silent("synchronous_commit", url)
        self.ask(f"ALTER ROLE {LOCKER} SET synchronous_commit = off")
        self.assert_finds("synchronous_commit is off", "warning", "ALTER ROLE", url)
        self.assert_silent("synchronous_commit")

    def test_autovacuum_is_off(self):
        self.set("autovacuum", "off")
        self.assert_finds("autovacuum is off", "advice", "autovacuum = on")

    def test_autovacuum_is_off_for_the_table_alone(self):
        self.assert_silent("autovacuum")
        self.ask("ALTER TABLE tyer_lock SET (autovacuum_enabled = false)")
        self.addCleanup(self.undo, "ALTER TABLE tyer_lock RESET (autovacuum_enabled)")
        self.assert_finds("autovacuum is off", "advice", "autovacuum_enabled")

    def test_a_right_that_is_missing_is_named(self):
        url = self.a_locker()
        self.assert_silent("rights", url)
        self.ask(f"REVOKE DELETE ON tyer_wait FROM {LOCKER}")
        self.ask(f"REVOKE UPDATE ON tyer_session FROM {LOCKER}")
        what = self.assert_finds("rights are missing", "warning", "GRANT", url, code=None)
        self.assertIn("DELETE on tyer_wait", what)
        self.assertIn("UPDATE on tyer_session", what)
        self.assertNotIn("tyer_lock", what)


@unittest.skipUnless(KIND == "postgres", "PostgreSQL only")
class OfTwo(unittest.TestCase):
    def standbys(self, url: str) -> list[str]:
        return [what for what in found(url) if "standbys" in what]

    def test_a_standby_that_nobody_waits_for(self):
        with Engine("postgres2") as engine:
            url = engine.url + "?schema=apply"
            self.assertEqual(self.standbys(url), [
                "there are standbys, and none of them is synchronous: whoever is promoted may not know the last grants"])  # fmt: skip

    def test_a_standby_that_is_waited_for_is_well(self):
        with Engine("postgres2", "--set", "synchronous_standby_names=*") as engine:
            self.assertEqual(self.standbys(engine.url + "?schema=apply"), [])


@unittest.skipUnless(KIND == "postgres", "PostgreSQL only")
class WithAClockOfItsOwn(unittest.TestCase):
    def test_a_clock_that_is_elsewhere_and_a_transaction_that_has_been_open_for_long(self):
        with Engine("postgres", "--clock-shift") as engine, contextlib.closing(Psql(engine.url.split("?")[0])) as other:
            tyer_json(engine.url, "doctor", *BEARS_STALLS)  # the tables are there
            other.ask("BEGIN ISOLATION LEVEL REPEATABLE READ", ANSWER_S_MAX)
            other.ask("SELECT count(*) FROM tyer_lock", ANSWER_S_MAX)
            engine.do("clock", "main", "1000")
            all_found = found(engine.url)
            (of_clock,) = [check for what, check in all_found.items() if "the server's clock is" in what]
            self.assertIn("16 m", of_clock["what"])
            self.assertIn("NTP", of_clock["advice"])
            (of_transaction,) = [check for what, check in all_found.items() if "a transaction has been open" in what]
            self.assertIn("16 minutes", of_transaction["what"])
            self.assertIn("idle_in_transaction_session_timeout", of_transaction["advice"])


@unittest.skipUnless(KIND == "postgres", "PostgreSQL only")
class BehindAPooler(unittest.TestCase):
    def test_the_pooler_itself_and_an_isolation_that_nothing_sets_there(self):
        with Engine("pgbouncer", "--set", "default_transaction_isolation=repeatable read") as engine:
            all_found = found(engine.url + "?schema=apply")
            (of_pooler,) = [check for what, check in all_found.items() if "a pooler is between" in what]
            self.assertIn("connect directly", of_pooler["advice"])
            (of_isolation,) = [check for what, check in all_found.items() if "the isolation level is" in what]
            self.assertIn("repeatable read", of_isolation["what"])
            self.assertIn("ALTER ROLE", of_isolation["advice"])


class OnMariaDB(OnDatabase):
    def ask(self, text: str) -> list[list[str | None]]:
        to = urlsplit(self.url)
        with mysql_wire.Connection(to.port, unquote(to.username), unquote(to.password), to.path[1:], ANSWER_S_MAX) as server:
            return server.ask(text)

    def set(self, name: str, value: str) -> None:
        """For this test."""
        ((_, before),) = self.ask(f"SHOW GLOBAL VARIABLES LIKE '{name}'")
        self.ask(f"SET GLOBAL {name} = {value}")
        self.addCleanup(self.undo, f"SET GLOBAL {name} = {before}")

    def undo(self, *statements: str) -> None:
        for statement in statements:
            self.ask(statement)

    def a_locker(self) -> str:
        return self.make_locker(f"USER {LOCKER} IDENTIFIED BY", f"DROP USER {LOCKER}")


@unittest.skipUnless(KIND == "mariadb", "MariaDB only")
class MariaDB(OnMariaDB):
    def test_a_server_as_it_comes_has_nothing_wrong(self):
        told = tyer_json(self.url, "doctor", *BEARS_STALLS)
        self.assertIn("the engine finds nothing wrong with its version and its settings", [c["what"] for c in told["checks"]])

    def test_the_log_is_not_written_at_each_commit(self):
        self.set("innodb_flush_log_at_trx_commit", "2")
        self.assert_finds("innodb_flush_log_at_trx_commit is not 1", "warning", "= 1")

    def test_a_right_that_is_missing_is_named(self):
        url = self.a_locker()
        self.assert_silent("rights", url)
        self.ask(f"REVOKE DELETE ON tyer_wait FROM {LOCKER}")
        what = self.assert_finds("rights are missing", "warning", "GRANT", url, code=None)
        self.assertIn("DELETE on tyer_wait", what)
        self.assertNotIn("tyer_lock", what)


@unittest.skipUnless(KIND == "mariadb", "MariaDB only")
class WithABinaryLog(OnMariaDB):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.engine = stack.enter_context(Engine("mariadb", "--set", "log-bin=bin", "--set", "server-id=1"))
        cls.url = cls.engine.url

    def test_nobody_waits_for_a_replica_and_the_log_is_not_written_at_each_commit(self):
        self.assert_finds("nobody waits for a replica", "note", "semi-synchronously")
        self.assert_finds("sync_binlog is not 1", "advice", "sync_binlog = 1")

    def test_sync_binlog_is_well(self):
        self.set("sync_binlog", "1")
        self.assert_silent("sync_binlog")

    def test_statements_in_the_binary_log_let_nobody_lock(self):
        tyer_json(self.url, "doctor", *BEARS_STALLS)  # the tables are there
        self.set("binlog_format", "'STATEMENT'")
        self.assert_finds("binlog_format is STATEMENT", "error", "binlog_format = ROW", code=harness.NO)

    def test_a_server_that_waits_for_replicas_and_has_given_up_on_them(self):
        self.set("rpl_semi_sync_master_timeout", "10")
        self.set("rpl_semi_sync_master_enabled", "ON")
        self.addCleanup(self.undo, "DROP TABLE written")
        self.ask("CREATE TABLE written (a INT)")  # in vain it waits for a replica that has it
        self.assert_finds("semi-synchronous replication has fallen back", "warning", "see to the replicas")
        self.assert_silent("nobody waits for a replica")


if __name__ == "__main__":
    harness.main()
