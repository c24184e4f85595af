#!/usr/bin/python3
"""schema, on the database that TYER_KIND names."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import tyer, tyer_json

TABLES = ("tyer_bell", "tyer_lock", "tyer_schema", "tyer_session", "tyer_wait")


class Schema(harness.OnEngine):
    def setUp(self):
        super().setUp()
        self.bare = self.url.split("?")[0]
        self.run_sql("".join(f"DROP TABLE IF EXISTS {table};" for table in TABLES))

    def run_sql(self, text: str) -> str:
        """By the database's own client."""
        at = urllib.parse.urlsplit(self.bare)
        words = ["psql", "-X", "-q", "-t", "-v", "ON_ERROR_STOP=1", self.bare]
        if harness.KIND != "postgres":
            words = ["mariadb", "--batch", "--skip-column-names", "-h", at.hostname, "-P", str(at.port), "-u", at.username, at.path[1:]]
        done = subprocess.run(
            words, input=text, capture_output=True, text=True, timeout=harness.PATIENCE_S, check=False,
            env=os.environ | {"MYSQL_PWD": at.password or "", "PGOPTIONS": "-c client_min_messages=warning"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def is_lockable(self) -> None:
        self.assertEqual(tyer(self.bare, "try", "a", "--", "echo", "done").stdout, "done\n")

    def test_what_is_printed_makes_the_tables(self):
        printed = tyer(self.bare, "schema").stdout
        self.assertTrue(printed.startswith("-- The tables of Tyer for "), printed)
        self.assertIn("version 1", printed)
        for _ in range(2):  # each may be run again
            self.run_sql(printed)
        self.is_lockable()

    def test_nothing_is_asked_of_the_server_to_print_it(self):
        scheme = self.bare.split("://")[0]
        self.assertEqual(tyer(f"{scheme}://127.0.0.1:1/none", "schema").stdout, tyer(self.bare, "schema").stdout)

    def test_json(self):
        told = tyer_json(self.bare, "schema")
        self.assertEqual(told["version"], 1)
        self.run_sql("".join(f"{one};" for one in told["statements"]))
        self.is_lockable()

    def test_without_tables_a_lock_says_what_to_do(self):
        done = tyer(self.bare, "try", "a", "--", "true", code=harness.REFUSED)
        self.assertIn("tyer schema --apply", done.stderr)

    def test_apply_makes_them_once(self):
        self.assertIn("were made", tyer(self.bare, "schema", "--apply").stdout)
        self.is_lockable()
        self.assertIn("are there", tyer(self.bare, "schema", "--apply").stdout)
        self.assertIs(tyer_json(self.bare, "schema", "--apply")["made"], False)
        self.is_lockable()

    def test_apply_refuses_tables_of_an_earlier_version(self):
        tyer(self.bare, "schema", "--apply")
        self.run_sql("UPDATE tyer_schema SET version = 0;")
        done = tyer(self.bare, "schema", "--apply", code=harness.REFUSED)
        self.assertIn("drop them while nobody locks", done.stderr)
        self.assertIn("0", self.run_sql("SELECT version FROM tyer_schema;"), "nothing was changed")

    def test_apply_refuses_tables_of_a_later_version(self):
        tyer(self.bare, "schema", "--apply")
        self.run_sql("UPDATE tyer_schema SET version = 2;")
        done = tyer(self.bare, "schema", "--apply", code=harness.REFUSED)
        self.assertIn("bring this client up to date", done.stderr)

    def test_an_engine_without_tables_has_no_schema(self):
        done = tyer("redis://127.0.0.1:1", "schema", code=harness.USAGE)
        self.assertIn("there are no tables for redis://", done.stderr)

    def test_a_database_that_cannot_be_reached_is_told(self):
        scheme = self.bare.split("://")[0]
        tyer(f"{scheme}://127.0.0.1:1/none", "schema", "--apply", "--connect-timeout", "1s", code=harness.UNREACHABLE)

    def test_apply_goes_on_with_what_was_left_half_made(self):
        self.run_sql("CREATE TABLE tyer_schema (version INTEGER NOT NULL PRIMARY KEY);")
        self.assertIn("were made", tyer(self.bare, "schema", "--apply").stdout)
        self.is_lockable()

    def test_no_password_is_shown(self):
        self.run_sql("CREATE TABLE tyer_schema (version INTEGER NOT NULL PRIMARY KEY); INSERT INTO tyer_schema VALUES (9);")
        password = urllib.parse.urlsplit(self.bare).password
        done = tyer(self.bare, "schema", "--apply", code=None)
        self.assertNotIn(password, done.stdout + done.stderr)


if __name__ == "__main__":
    harness.main()
