#!/usr/bin/python3
"""`tyer run` on a terminal, on the kind of engine that TYER_KIND says."""

from __future__ import annotations

import os
import signal
import time

import run_base
from harness import LOST, TYER, eventually
from run_base import RunTest, read
from run_lab import Trio, alive, children, comm, send
from run_shell import CTRL_C, CTRL_D, CTRL_Z, Shell


class OnATerminal(RunTest):
    def setUp(self):
        super().setUp()
        self.shell = Shell(run_base.server.url)
        self.addCleanup(self.shell.close)

    def line(self, command: str, *options: str) -> str:
        return " ".join([TYER, "run", self.name, *options, "--", command])

    def code(self) -> int:
        return int(self.shell.do("echo $?"))

    def test_the_command_has_the_terminal(self):
        self.assertIn("tty ok", self.shell.do(self.line("sh -c 'test -t 0 && test -t 1 && test -t 2 && echo tty ok'")))
        self.shell.type(self.line("sh -c 'read answer < /dev/tty; echo it was $answer'") + "\n")
        self.shell.type("blue\n")
        self.shell.expect("it was blue")

    def test_ctrl_c_ends_the_command_once(self):
        # Who says "ready" is who sleeps: a Ctrl-C between the two would find nobody to end.
        self.shell.type(self.line("sh -c 'trap \"echo INT\" INT; (echo rea\"dy\"; exec sleep 100); echo out'") + "\n")
        self.shell.expect("ready")
        self.shell.type(CTRL_C)
        said = self.shell.until_prompt()
        self.assertEqual((said.count("INT"), said.count("out")), (1, 1))

    def test_ctrl_c_ends_the_waiting(self):
        self.hold("--ttl", "60s")
        self.shell.type(self.line("true") + "\n")
        self.shell.expect("waiting for")
        self.shell.type(CTRL_C)
        self.shell.until_prompt()
        self.assertEqual(self.code(), 130)

    def test_ctrl_z_stops_and_fg_goes_on_and_the_lock_is_kept(self):
        self.shell.type(self.line("cat", "--ttl", "3s") + "\n")
        self.shell.type("one\n")
        self.shell.expect("one\r\none")
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.until_prompt()
        end = time.monotonic() + 6.5  # more than two ttls
        while time.monotonic() < end:
            self.assertFalse(self.is_free())
        self.shell.type("fg\n")
        self.shell.type("two\n")
        self.shell.expect("two\r\ntwo")
        self.shell.type(CTRL_D)
        self.shell.until_prompt()
        self.assertEqual(self.code(), 0)

    def test_in_the_background_it_stops_when_it_wants_to_read(self):
        self.shell.do(self.line("cat") + " &")
        self.shell.type("\n")
        eventually(lambda: "Stopped" in self.shell.do("jobs"), what="a stopped job")
        self.shell.type("fg\n")
        self.shell.type("hello\n")
        self.shell.expect("hello\r\nhello")
        self.shell.type(CTRL_D)
        self.shell.until_prompt()

    def test_a_waiter_in_the_background_wrote_over_the_line_of_the_shell(self):
        self.hold("--ttl", "60s")
        waits = self.line("true", "--wait", "100s")
        self.shell.do(waits + " &")
        self.shell.type(waits + "\n")  # in front, where it is seen
        self.shell.expect("waiting for")
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.until_prompt()
        # Both wait on, and a third has its seconds in front of them: long enough for a line of either.
        said = self.shell.do("sleep 3; echo over")
        self.assertIn("over", said)
        self.assertNotIn("waiting", said)
        self.shell.type("fg\n")
        self.shell.expect("waiting for")
        self.shell.type(CTRL_C)
        self.shell.until_prompt()
        self.shell.do("kill %1; wait")

    def test_a_shell_under_the_lock_has_jobs_of_its_own(self):
        self.shell.do(self.line("bash --norc --noprofile --noediting -i"))
        self.assertIn(self.name, self.shell.do("echo $TYER_LOCK"))
        self.shell.type("sh -c 'echo slee\"ps\"; exec sleep 100'\n")
        self.shell.expect("sleeps")
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.until_prompt()
        self.shell.do("kill -9 %1; wait")
        self.assertIn("exit", self.shell.do("exit 4"))
        self.assertEqual(self.code(), 4)
        self.assertTrue(self.is_free())

    def test_in_a_pipeline_the_others_have_the_terminal_too(self):
        self.shell.type(self.line("seq 3") + " | (read answer < /dev/tty; echo $answer $(wc -l))\n")
        self.shell.type("yes\n")
        self.shell.expect("yes 3")

    def test_the_end_of_the_terminal_is_the_end_of_the_command(self):
        self.shell.type(self.line("sleep 1000", "--ttl", "60s") + "\n")
        eventually(lambda: not self.is_free(), what="the lock is held")
        self.shell.close()
        eventually(self.is_free, what="the lock is free")

    def test_what_left_the_group_is_ended_here_too(self):
        file = os.path.join(self.folder, "pid")
        script = f"setsid sleep 1000 & echo $! > {file}; exec sleep 1000"
        self.shell.type(self.line(f"sh -c '{script}'", "--ttl", "2s") + "\n")
        pid = int(eventually(lambda: read(file), what="a pid"))
        jobs = eventually(lambda: [p for p in children(self.shell.pid) if comm(p) == "tyer"], what="tyer")
        send(signal.SIGSTOP, Trio(jobs[0]).keeper)
        self.shell.until_prompt()
        self.assertEqual(self.code(), LOST)
        self.assertFalse(alive(pid))


if __name__ == "__main__":
    run_base.main()
