#!/usr/bin/python3
"""Locks and the doctor through proxies that know only RESP2 and commands that have a key."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import Engine, environment, eventually, fresh_name, tyer, tyer_json

BEHIND = os.path.join(harness.ROOT, "tests", "contract", "behind_proxy")
# With this ttl a machine that stands still for a second says nothing about the engine.
BEARS_STALLS = ("--ttl", "10min")
LATER_THAN_THE_DOCTOR_LOOKS_S = 0.8


@contextlib.contextmanager
def proxy(which: str, engine: Engine):
    """Its URL."""
    with subprocess.Popen([BEHIND, which, "sh", "-c", "echo $TYER_URI; read end"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, env=environment(None, TYER_URI=engine.url)) as it:
        try:
            yield it.stdout.readline().strip()
        finally:
            it.stdin.close()
            it.wait()


@contextlib.contextmanager
def holding(engine: Engine, url: str, name: str):
    """By way of the proxy, and nobody else connects to it meanwhile."""
    with subprocess.Popen([harness.TYER, "run", name, "--", "sleep", "1000"], env=environment(url)) as it:
        try:
            eventually(lambda: tyer(engine.url, "show", name, code=None).returncode == 0, what="holding")
            yield
        finally:
            it.terminate()


class BehindAProxy(unittest.TestCase):
    def test_the_doctor_says_what_is_lost(self):
        for which in ("twemproxy", "polite"):
            with self.subTest(which), Engine("redis") as engine, proxy(which, engine) as url:
                told = tyer_json(url, "doctor", *BEARS_STALLS)
                self.assertTrue(told["healthy"], told)
                lost = next(c for c in told["checks"] if "does not speak RESP3" in c["what"])
                self.assertEqual(lost["level"], "warning")
                for words in ("looks again", "asked to release", "next renewal", "not listed"):
                    self.assertIn(words, lost["advice"])
                self.assertIn("this login may acquire, keep, show and release locks", [c["what"] for c in told["checks"]])

    def test_a_database_that_a_proxy_does_not_have_was_told_as_tls_or_as_an_old_server(self):
        for which, code in (("twemproxy", harness.UNREACHABLE), ("polite", harness.REFUSED)):
            with self.subTest(which), Engine("redis") as engine, proxy(which, engine) as url:
                done = tyer(url + "/3", "ls", "--connect-timeout", "3s", code=code)
                self.assertIn("take the database /3 out of the URI", done.stderr)
                self.assertNotIn("6.2 or newer", done.stderr)

    def test_a_proxy_that_closes_the_connection_was_told_as_a_server_that_hangs(self):
        with Engine("redis") as engine, proxy("twemproxy", engine) as url:
            done = tyer(url.replace("://", "://u:geheim@"), "doctor", code=harness.UNREACHABLE)
            told = " ".join(done.stdout.split())
            self.assertIn("before the server had said a word, although it speaks Redis", told)
            self.assertIn("perhaps it is a proxy that does not pass on what is in the URL", told)
            self.assertNotIn("TLS", told)

    def test_a_server_that_takes_long_to_greet_was_told_as_one_that_hangs(self):
        with Engine("redis") as engine, proxy("twemproxy", engine) as proxied:
            for url in (engine.url, proxied):
                slow = harness.Slow(int(url.rsplit(":", 1)[1]), LATER_THAN_THE_DOCTOR_LOOKS_S, at_first_only=True)
                with self.subTest(url), contextlib.closing(slow):
                    here = f"redis://127.0.0.1:{slow.port}"
                    told = tyer_json(here, "doctor", "--connect-timeout", "100s", *BEARS_STALLS)
                    self.assertIn("reached", told["checks"][0]["what"])
                    self.assertTrue(told["healthy"], told)

    def test_a_server_that_is_slow_was_told_as_a_login_that_cannot_keep_a_lock(self):
        with Engine("redis") as engine:
            with contextlib.closing(harness.Slow(int(engine.url.rsplit(":", 1)[1]), 0.7)) as slow:
                told = tyer_json(f"redis://127.0.0.1:{slow.port}", "doctor", "--connect-timeout", "100s", code=None)
            self.assertIn("reached", told["checks"][0]["what"])
            self.assertFalse([c for c in told["checks"] if "this login cannot" in c["what"]], told)

    def test_a_connection_that_was_cut_while_it_greeted_spoke_resp2_ever_after(self):
        with Engine("redis") as engine, proxy("cut", engine) as url:
            told = tyer_json(url, "doctor", *BEARS_STALLS)
            self.assertIn("push", next(c["what"] for c in told["checks"] if c["what"].startswith("it can")))
            self.assertNotIn("RESP3", str(told["checks"]))

    def test_a_connection_that_was_cut_twice_while_it_greeted_spoke_resp2_until_it_was_lost(self):
        name = fresh_name()
        with Engine("redis") as engine, proxy("cut_twice", engine) as url, holding(engine, url, name):
            words = ("break", name, "--reason", "only RESP3 hears it", "--yes", "--timeout", "1s")
            eventually(lambda: tyer(engine.url, *words, code=None).returncode == 0, what="asking the holder")

    def test_where_nothing_can_be_listed_top_and_watch_went_on_for_ever(self):
        with Engine("redis") as engine, proxy("twemproxy", engine) as url:
            for words in (("top",), ("watch",), ("deadlocks",)):
                with self.subTest(words):
                    self.assertIn("cannot list the locks", tyer(url, *words, code=harness.REFUSED).stderr)

    def test_a_command_runs_under_a_lock(self):
        name = fresh_name()
        with Engine("redis") as engine, proxy("twemproxy", engine) as url:
            done = tyer(url, "run", name, "--", "sh", "-c", f"tyer show {name} --json")
            self.assertIn('"held"', done.stdout)
            self.assertIn("cannot list the locks", tyer(url, "ls", code=None).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
