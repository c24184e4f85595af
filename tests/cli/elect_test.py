#!/usr/bin/python3
"""`tyer elect`, on the kind of engine that TYER_KIND says."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import unittest

import harness
from harness import LOST, PATIENCE_S, TYER, Engine, Lines, eventually
from run_lab import Trio, alive, send

server: Engine
names = (f"office-{number}" for number in itertools.count())

LEAD = 'echo "leads $1 $TYER_TOKEN $$"; exec sleep 1000'


class Candidate(Lines):
    """One who stands; says `leads NAME TERM PID` when it is elected."""

    def __init__(self, office: str, me: str, *options: str, script: str = LEAD):
        words = [TYER, "elect", office, "--ttl", "3s", *options, "--", "sh", "-c", script, "sh", me]
        super().__init__(words, harness.environment(server.url))

    def term(self) -> tuple[int, int]:
        """Waits until it leads; its term, and the pid of its command."""
        _, _, term, pid = self.await_line("leads").split()
        return int(term), int(pid)


class ElectTest(unittest.TestCase):
    def setUp(self):
        self.office = next(names)

    def stand(self, me: str, *options: str, **how) -> Candidate:
        return self.enterContext(Candidate(self.office, me, *options, **how))

    def test_one_leads_and_the_next_follows_when_it_resigns(self):
        first = self.stand("a")
        term, pid = first.term()
        second = self.stand("b")
        first.process.terminate()
        later, _ = second.term()
        self.assertGreater(later, term)
        self.assertFalse(alive(pid))
        self.assertEqual(first.process.wait(PATIENCE_S), 143)

    def test_when_the_command_ends_by_itself_so_does_it(self):
        first = self.stand("a", script="exit 6")
        self.assertEqual(first.process.wait(PATIENCE_S), 6)

    def test_after_a_loss_it_stands_again(self):
        first = self.stand("a")
        term, pid = first.term()
        keeper = Trio(first.process.pid).keeper
        send(signal.SIGSTOP, keeper)
        second = self.stand("b")
        between, _ = second.term()
        self.assertFalse(alive(pid))
        send(signal.SIGCONT, keeper)
        second.process.terminate()
        last, _ = first.term()
        self.assertLess(term, between)
        self.assertLess(between, last)

    def test_once_does_not_stand_again(self):
        first = self.stand("a", "--once")
        first.term()
        send(signal.SIGSTOP, Trio(first.process.pid).keeper)
        self.assertEqual(first.process.wait(PATIENCE_S), LOST)

    def test_one_that_stands_may_be_told_to_go(self):
        self.stand("a").term()
        second = self.stand("b")
        Trio(second.process.pid)  # it is there
        second.process.send_signal(signal.SIGINT)
        self.assertEqual(second.process.wait(PATIENCE_S), 130)

    def test_others_see_the_note(self):
        self.stand("a", "--note", "10.0.0.7:8080").term()
        shown = harness.tyer_json(server.url, "show", self.office)
        self.assertIn("10.0.0.7:8080", json.dumps(shown))

    def test_whoever_is_asked_to_go_goes(self):
        first = self.stand("a")
        _, pid = first.term()
        breaking = subprocess.Popen([TYER, "break", self.office, "--yes", "--reason", "upgrade"],
                                    env=harness.environment(server.url), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        eventually(lambda: not alive(pid), what="the end of the command")
        self.assertEqual((breaking.wait(PATIENCE_S), first.process.wait(PATIENCE_S)), (0, 143))

    def test_what_became_of_one_whose_lock_was_taken_at_once_was_a_matter_of_luck(self):
        """It was asked first: if the command ended before the loss was heard of, it had ended by itself, for good."""
        first = self.stand("a")
        term, pid = first.term()
        harness.tyer(server.url, "break", self.office, "--now", "--yes", "--reason", "now", code=0)
        later, _ = first.term()
        self.assertFalse(alive(pid))
        self.assertGreater(later, term)


if __name__ == "__main__":
    with Engine(os.environ.get("TYER_KIND", "redis")) as server:
        harness.main()
