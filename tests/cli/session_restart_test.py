#!/usr/bin/python3
"""Locks of sessions when the server is started anew and its clock was set back. TYER_KIND names the database."""

from __future__ import annotations

import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import KIND, Engine, Holder, fresh_name, tyer

TTL_S = 8.0
AN_HOUR_AGO = "-3600"


class AServer(unittest.TestCase):
    """Its restart frees the lock, of which the holder, who stands still, has not heard: it believes in it until its ttl is over."""

    def start_anew(self, engine: Engine) -> float:
        """When the locks were gone at the earliest."""
        then = time.monotonic()
        engine.do("kill", "main")
        engine.do("restart", "main")
        return then

    def assert_nobody_has_it_before_the_ttl_is_over(self, url: str, name: str, since: float) -> None:
        tyer(url, "try", name, "--", "true", code=harness.NOT_ACQUIRED)
        tyer(url, "run", name, "--wait", "60s", "--", "true")
        self.assertGreaterEqual(time.monotonic() - since, TTL_S)

    def with_a_holder_that_stands_still(self, what) -> None:
        name = fresh_name()
        with Engine(KIND, "--clock-shift") as engine:
            url = engine.url + "&lock=session"
            with Holder(url, name, ttl_ms=int(TTL_S * 1000)).held() as holder:
                os.kill(holder.process.pid, signal.SIGSTOP)
                since = what(engine)
                self.assert_nobody_has_it_before_the_ttl_is_over(url, name, since)
                os.kill(holder.process.pid, signal.SIGCONT)
                holder.await_line("lost")
            tyer(url, "try", name, "--", "true")

    def test_whose_clock_was_set_back_before_it_was_started_anew_gave_the_lock_at_once(self):
        def what(engine: Engine) -> float:
            engine.do("clock", "main", AN_HOUR_AGO)
            return self.start_anew(engine)

        self.with_a_holder_that_stands_still(what)

    def test_whose_clock_was_set_back_to_before_its_start_gave_the_lock_at_once(self):
        def what(engine: Engine) -> float:
            since = self.start_anew(engine)
            engine.do("clock", "main", AN_HOUR_AGO)
            return since

        self.with_a_holder_that_stands_still(what)


if __name__ == "__main__":
    harness.main()
