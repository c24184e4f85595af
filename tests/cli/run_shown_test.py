#!/usr/bin/python3
"""What others are shown of a command under a lock, on the kind of engine that TYER_KIND says."""

from __future__ import annotations

import datetime
import os
import pwd

import harness
import run_base
from harness import eventually
from run_base import KIND, RunTest, tyer
from run_lab import Trio


def asked_ms(entry: dict) -> float:
    """How long ago it was asked for."""
    asked = datetime.datetime.fromisoformat(entry["owner"]["since"].replace("Z", "+00:00"))
    return (datetime.datetime.now(datetime.timezone.utc) - asked) / datetime.timedelta(milliseconds=1)


class WhatIsShown(RunTest):
    def shown(self) -> dict:
        return harness.tyer_json(run_base.server.url, "show", self.name)

    def test_of_a_command_under_a_lock_only_tyer_was_shown(self):
        words = ("sh", "-c", "echo held; exec sleep 1000", "x", "--password", "geheim", "--token=geheim", "redis://u:geheim@h/1")
        child = self.start("run", self.name, "--ttl", "60s", "--", *words)
        self.assertEqual(child.stdout.readline(), "held\n")
        shown = self.shown()
        (holder,) = shown["holders"]
        user = pwd.getpwuid(os.geteuid()).pw_name
        self.assertEqual(holder["owner"]["user"], user)
        self.assertEqual(holder["owner"]["command"], "sh -c 'echo held; exec sleep 1000' x --password … --token=… redis://…@h/1")
        self.assertEqual(holder["owner"]["pid"], Trio(child.pid).keeper)  # what is sent to it reaches the command
        self.assertNotIn("geheim", str(shown))
        text = tyer("show", self.name).stdout.decode()
        self.assertRegex(text, rf"held by   .* pid {holder['owner']['pid']}, tyer run by {user}\n  command   sh -c")
        self.assertIn(f"{user}: sh -c", tyer("ls", self.name).stdout.decode())

    def test_a_command_line_may_be_kept_to_oneself(self):
        self.hold("--ttl", "60s", "--show-as", "nightly backup")
        (holder,) = self.shown()["holders"]
        self.assertEqual(holder["owner"]["command"], "nightly backup")

    def test_a_command_line_that_is_long_is_cut_and_takes_nothing_from_the_note(self):
        child = self.start("run", self.name, "--ttl", "60s", "--note", "n" * 256, "--", "sh", "-c", "echo held; exec sleep 1000", "ä" * 200)
        self.assertEqual(child.stdout.readline(), "held\n")
        (holder,) = self.shown()["holders"]
        self.assertTrue(holder["owner"]["command"].endswith("ä…"), holder)
        self.assertEqual(holder["owner"]["note"], "n" * 256)

    def test_how_long_it_was_held_was_counted_from_asking_for_it(self):
        first = self.hold("--ttl", "60s")
        second = self.start("run", self.name, "--ttl", "60s", "--", "sh", "-c", "echo held; exec sleep 1000")
        eventually(lambda: b"1 waiting" in tyer("show", self.name).stdout, what="one that waits")
        eventually(lambda: asked_ms(self.shown()["waiters"][0]) > 3000, what="3 s of waiting, and not of holding")
        first.terminate()
        self.assertEqual(second.stdout.readline(), "held\n")
        (holder,) = self.shown()["holders"]
        text = tyer("show", self.name).stdout.decode()
        self.assertRegex(text, r"\n  asked     .* ago\n")
        if KIND == "etcd":  # whose tokens are no times
            self.assertIsNone(holder["held_ms"])
            return
        self.assertLess(holder["held_ms"] + 2500, asked_ms(holder))
        self.assertRegex(text, r"\n  held for  \d")

    def test_a_name_in_a_message_is_quoted(self):
        self.name = "two words"
        self.hold("--ttl", "60s")
        told = tyer("try", self.name, "--", "true").stderr.decode()
        self.assertIn("'two words' was not free", told)
        self.assertIn("tyer show 'two words'\n", told)


if __name__ == "__main__":
    run_base.main()
