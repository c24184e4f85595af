#!/usr/bin/python3
"""doctor and bench, on the engine that TYER_KIND names."""

from __future__ import annotations

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import KIND, Engine, Terminal, tyer, tyer_json

sys.path.insert(0, os.path.join(harness.ROOT, "tools", "lib"))
import resp

# With this ttl a machine that stands still for a second says nothing about the engine.
BEARS_STALLS = ("--ttl", "10min")


class Doctor(harness.OnEngine):
    def ask_redis(self, *words: str):
        with resp.Connection(int(self.url.rsplit(":", 1)[1]), 5.0) as connection:
            return connection.ask(*words)

    def test_a_good_engine_is_healthy(self):
        told = tyer_json(self.url, "doctor", *BEARS_STALLS)
        self.assertTrue(told["healthy"])
        self.assertEqual(told["engine"], self.engine.shown)
        self.assertGreater(told["round_trip"]["count"], 10)
        self.assertLessEqual(told["round_trip"]["median_ms"], told["round_trip"]["p99_ms"])
        words = " ".join(c["what"] for c in told["checks"])
        self.assertIn("may acquire, keep, show, list, ask for and release", words)
        for check in told["checks"]:
            self.assertTrue(check["level"] == "ok" or check["advice"], check)
        if KIND == "redis":
            self.assertLess(abs(told["clock_offset_ms"]), 1000)
        self.assertEqual(tyer_json(self.url, "ls")["locks"], [])  # it has tidied up

    def test_a_ttl_that_is_too_short_is_an_error(self):
        told = tyer_json(self.url, "doctor", "--ttl", "0", code=harness.NO)
        self.assertFalse(told["healthy"])
        self.assertIn("error", [c["level"] for c in told["checks"]])

    def test_it_reads_well_on_a_terminal(self):
        with Terminal(self.url, "doctor", *BEARS_STALLS, lines=60) as terminal:
            self.assertEqual(terminal.end(), 0)
            for line in terminal.lines():
                self.assertRegex(line, r"^$|^(ok|note|advice|warning|error)  |^         ")

    def test_an_engine_that_is_not_there(self):
        done = tyer(harness.NOBODY_LISTENS, "doctor", "--connect-timeout", "500ms", code=harness.UNREACHABLE)
        self.assertIn("nobody listens at 127.0.0.1:1", done.stdout)

    @unittest.skipUnless(KIND == "redis", "Redis only")
    def test_what_redis_is_set_up_for(self):
        self.ask_redis("CONFIG", "SET", "maxmemory", "100mb")
        self.ask_redis("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        self.addCleanup(self.ask_redis, "CONFIG", "SET", "maxmemory-policy", "noeviction")
        text = tyer(self.url, "doctor", *BEARS_STALLS).stdout
        self.assertRegex(text, r"warning  maxmemory-policy is allkeys-lru\n +→ set it to noeviction")

    @unittest.skipUnless(KIND == "redis", "Redis only")
    def test_replicas_that_nobody_waits_for(self):
        with Engine("sentinel") as sentinel:
            told = tyer_json(sentinel.url, "doctor", *BEARS_STALLS)
            self.assertIn("the option replicas=1", " ".join(c["advice"] or "" for c in told["checks"]))
            told = tyer_json(sentinel.url + "?replicas=1", "doctor", *BEARS_STALLS)
            self.assertNotIn("the option replicas=1", " ".join(c["advice"] or "" for c in told["checks"]))

    @unittest.skipUnless(KIND == "redis", "Redis only")
    def test_a_login_that_may_not_list(self):
        self.ask_redis("ACL", "SETUSER", "weak", "on", ">geheim", "~*", "&*", "+@all", "-publish", "-scan")
        url = self.url.replace("://", "://weak:geheim@")
        told = tyer_json(url, "doctor", code=harness.NO)
        (wrong,) = [c for c in told["checks"] if c["level"] == "error"]
        self.assertIn("cannot", wrong["what"])
        self.assertNotIn("geheim", str(told))

    def test_bench(self):
        told = tyer_json(self.url, "bench", "--for", "300ms")
        self.assertEqual([r["callers"] for r in told["runs"]], [1, 64])
        self.assertIn("PER SECOND", tyer(self.url, "bench", "--for", "200ms").stdout)


if __name__ == "__main__":
    harness.main()
