#!/usr/bin/python3
"""`tyer run` and `tyer try`, on the kind of engine that TYER_KIND says."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

import harness
import run_base
from harness import (FAILED, LOST, NOBODY_LISTENS, NOT_ACQUIRED, PATIENCE_S, REFUSED, TYER, UNREACHABLE, USAGE, Patience,
                     eventually)
from run_base import KIND, RunTest, environment, read, tyer
from run_lab import Trio, alive, children, comm, send

class WhatTheCommandSees(RunTest):
    def test_its_exit_code_is_passed_on(self):
        for script, code in (("true", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)):
            with self.subTest(script):
                self.assertEqual(tyer("run", self.name, "--", "sh", "-c", script).returncode, code)

    def test_the_lock_is_in_its_environment(self):
        script = 'echo "$TYER_LOCK $TYER_TOKEN ${#TYER_HOLD} ${TYER_SLOT-none}"'
        first, second = (tyer("run", self.name, "--", "sh", "-c", script).stdout.split() for _ in range(2))
        self.assertEqual(first[0].decode(), self.name)
        self.assertGreater(int(second[1]), int(first[1]))
        self.assertEqual(first[2:], [b"34", b"none"])

    def test_a_slot_of_a_lock_around_it_was_passed_on_to_it(self):
        show = 'echo "$TYER_LOCK ${TYER_SLOT-none} ${TYER_SLOTS-none}"'
        done = tyer("run", self.name, "--permits", "1/3", "--", TYER, "run", self.name + "/2", "--", "sh", "-c", show)
        self.assertEqual(done.stdout.decode().split(), [self.name + "/2", "none", "none"])

    def test_input_and_output_are_its_own(self):
        data = os.urandom(1 << 20)
        done = tyer("run", self.name, "--", "sh", "-c", "cat; echo complaint >&2", input=data)
        self.assertEqual((done.stdout, done.stderr), (data, b"complaint\n"))

    def test_its_words_are_left_alone(self):
        done = tyer("run", self.name, "--", "echo", "--json", "-x", "--", "--ttl", "a b")
        self.assertEqual(done.stdout, b"--json -x -- --ttl a b\n")

    def test_no_descriptor_is_left_open_for_it(self):
        done = tyer("run", self.name, "--", "sh", "-c", "ls /proc/self/fd | wc -l")
        self.assertEqual(done.stdout.strip(), b"4")  # three, and the folder that is being read

    def test_descriptors_that_are_closed_do_no_harm(self):
        command = 'exec "$0" run "$1" -- sh -c "sleep 0.3; exit 7" <&- >&- 2>&-'
        self.assertEqual(subprocess.run(["sh", "-c", command, TYER, self.name], env=environment()).returncode, 7)

    def test_signals_are_as_they_were(self):
        wanted = "grep -E 'Sig(Blk|Ign)' /proc/self/status"
        plain = subprocess.run(["sh", "-c", wanted], capture_output=True).stdout
        self.assertEqual(tyer("run", self.name, "--", "sh", "-c", wanted, restore_signals=True).stdout, plain)


class WhatCannotBeStarted(RunTest):
    def test_a_missing_command_is_127_and_takes_no_lock(self):
        with self.subTest("by path"):
            self.assertEqual(tyer("run", self.name, "--", "/no/such").returncode, 127)
        done = tyer("--url", NOBODY_LISTENS, "run", self.name, "--", "no-such-command")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"no such command", done.stderr)

    def test_what_is_not_executable_is_126(self):
        for path in ("/etc/passwd", "/"):
            self.assertEqual(tyer("run", self.name, "--", path).returncode, 126)

    def test_what_exec_refuses_is_126(self):
        path = os.path.join(self.folder, "broken")
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/etc/passwd\n")
        os.chmod(path, 0o755)
        self.assertEqual(tyer("run", self.name, "--", path).returncode, 126)
        self.assertTrue(self.is_free())

    def test_what_cannot_be_meant_is_120_and_says_what_to_do(self):
        for words, said in (
            (("--ttl", "10"), b"30s"),
            (("--ttl", "100ms"), b"1s"),
            (("--ttl", "4s", "--grace", "2s"), b"--ttl 10s"),
            (("--once-per", "24h"), b"23h"),
            (("--permits", "4/3"), b"1/3"),
            (("--permits", "1/3", "--shared"), b"shared"),
        ):
            with self.subTest(words):
                done = tyer("run", self.name, *words, "--", "true")
                self.assertEqual(done.returncode, USAGE)
                self.assertIn(said, done.stderr)

    def test_an_engine_that_is_away_is_121(self):
        done = tyer("--url", NOBODY_LISTENS, "--connect-timeout", "300ms", "run", self.name, "--", "true")
        self.assertEqual(done.returncode, UNREACHABLE)


class WhoGetsTheLock(RunTest):
    def test_try_does_not_wait(self):
        self.hold("--ttl", "60s")
        done = tyer("try", self.name, "--", "echo", "started")
        self.assertEqual((done.returncode, done.stdout), (NOT_ACQUIRED, b""))
        self.assertIn(self.name.encode(), done.stderr)

    def test_run_waits_as_long_as_it_is_told_to(self):
        self.hold("--ttl", "60s")
        begin = time.monotonic()
        self.assertEqual(tyer("run", self.name, "--wait", "700ms", "--", "true").returncode, NOT_ACQUIRED)
        self.assertGreaterEqual(time.monotonic() - begin, 0.7)

    @unittest.skipUnless(KIND == "redis", "takes long, and is the same on every engine")
    def test_a_long_wait_without_a_terminal_went_on_without_a_word(self):
        self.hold("--ttl", "60s")
        done = tyer("run", self.name, "--wait", "32s", "--", "true")
        told = f"tyer: waiting for '{self.name}' (tyer show says who has it), for 30 s so far"
        self.assertEqual(done.stderr.decode().splitlines()[0], told)
        self.assertEqual(done.returncode, NOT_ACQUIRED)

    def test_a_place_in_the_source_of_tyer_was_shown_to_people(self):
        self.hold("--ttl", "60s", "--note", "full backup")
        shown = tyer("show", self.name).stdout
        self.assertIn(b"full backup", shown)
        self.assertNotIn(b".cpp", shown)
        self.assertNotIn(b"  at  ", shown)

    def test_an_engine_that_falls_silent_meanwhile_is_121_and_no_lock_that_others_have(self):
        for patience in Patience.longer_and_longer():
            self.name = next(run_base.names)
            self.hold("--ttl", "10m")
            child = self.start("run", self.name, "--wait", f"{patience.seconds}s", "--", "echo", "started")
            eventually(lambda: child.poll() is not None or b"1 waiting" in tyer("show", self.name).stdout, what="one that waits")
            with run_base.server.paused():
                if patience.is_worn():
                    continue
                out, said = child.communicate(timeout=patience.seconds + PATIENCE_S)
            self.assertEqual((child.returncode, out), (UNREACHABLE, ""))
            return self.assertNotIn("was not free", said)

    def test_when_the_command_ends_the_next_has_the_lock_at_once(self):
        first = self.hold("--ttl", "60s", script="echo held; exec cat < " + self._gate())
        second = self.start("run", self.name, "--", "echo", "mine")
        eventually(lambda: any(children(second.pid)), what="a waiter")
        self._open_gate()
        self.assertEqual(second.stdout.readline(), "mine\n")  # and not after the sixty seconds
        self.assertEqual((first.wait(PATIENCE_S), second.wait(PATIENCE_S)), (0, 0))

    def _gate(self) -> str:
        path = os.path.join(self.folder, "gate")
        os.mkfifo(path)
        return path

    def _open_gate(self) -> None:
        with open(os.path.join(self.folder, "gate"), "w", encoding="ascii"):
            pass

    def test_readers_share_and_a_writer_does_not(self):
        self.hold("--shared")
        self.assertEqual(tyer("try", self.name, "--shared", "--", "true").returncode, 0)
        self.assertEqual(tyer("try", self.name, "--", "true").returncode, NOT_ACQUIRED)

    def test_another_number_of_permits_was_told_without_name_and_number(self):
        self.hold("--permits", "1/3")
        done = tyer("run", self.name, "--permits", "1/4", "--", "true")
        self.assertEqual(done.returncode, REFUSED)
        self.assertIn(f"'{self.name}' is in use with 3 permits, not 4\n".encode(), done.stderr)

    def test_permits_have_slots_of_their_own_and_an_end(self):
        script = 'echo held; echo "$TYER_SLOT" "$TYER_SLOTS"; exec sleep 1000'
        slots = {self.hold("--permits", "1/3", script=script).stdout.readline().strip() for _ in range(2)}
        self.assertEqual(len(slots), 2)
        self.assertEqual(tyer("try", self.name, "--permits", "2/3", "--", "true").returncode, NOT_ACQUIRED)
        self.assertEqual(tyer("try", self.name, "--permits", "1/3", "--", "true").returncode, 0)


class Signals(RunTest):
    TRAP = "trap 'echo got %s; exit 9' %s; echo held; while :; do sleep 0.05; done"

    def test_they_are_passed_on(self):
        for word in ("TERM", "INT", "HUP", "USR1"):
            with self.subTest(word):
                child = self.hold(script=self.TRAP % (word, word))
                child.send_signal(getattr(signal, "SIG" + word))
                self.assertEqual(child.stdout.readline(), f"got {word}\n")
                self.assertEqual(child.wait(PATIENCE_S), 9)

    def test_the_pid_that_is_shown_with_the_lock_may_be_signalled_too(self):
        child = self.hold(script=self.TRAP % ("TERM", "TERM"))
        send(signal.SIGTERM, Trio(child.pid).keeper)
        self.assertEqual((child.stdout.readline(), child.wait(PATIENCE_S)), ("got TERM\n", 9))

    def test_one_that_waits_ends_at_once_and_leaves_its_place(self):
        first = self.hold("--ttl", "60s")
        child = self.start("run", self.name, "--", "true")
        Trio(child.pid)  # it is there
        child.terminate()
        self.assertEqual(child.wait(PATIENCE_S), 143)
        first.terminate()
        first.wait(PATIENCE_S)
        self.assertTrue(self.is_free())

    def test_what_was_ignored_stays_ignored(self):
        words = ["nohup", TYER, "run", self.name, "--", "sh", "-c", "echo held; read line; exit 5"]
        child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
                                 start_new_session=True)
        self.assertEqual(child.stdout.readline(), b"held\n")
        child.send_signal(signal.SIGHUP)
        child.communicate(b"go on\n", timeout=PATIENCE_S)
        self.assertEqual(child.returncode, 5)


class TheEnd(RunTest):
    BEHIND = "setsid sleep 1000 & echo $!; sleep 0.1; "

    def test_what_the_command_leaves_behind_is_ended_before_the_lock_is_free(self):
        done = tyer("run", self.name, "--", "sh", "-c", self.BEHIND + "exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertFalse(alive(int(done.stdout)))

    def test_with_leave_it_lives_on(self):
        child = self.start("run", self.name, "--leave", "--", "sh", "-c", "setsid sleep 1000 >&- 2>&- & echo $!")
        pid = int(child.stdout.readline())
        try:
            self.assertEqual(child.wait(PATIENCE_S), 0)
            self.assertTrue(alive(pid))
            self.assertTrue(self.is_free())
        finally:
            send(signal.SIGKILL, pid)

    def test_killed_tyer_gives_the_lock_back_when_the_command_is_dead(self):
        child = self.hold("--ttl", "60s")
        command = Trio(child.pid).command()
        child.kill()
        begin = time.monotonic()
        eventually(self.is_free, what="the lock is free")
        self.assertFalse(alive(command))
        self.assertLess(time.monotonic() - begin, 15)  # not after the ttl

    def test_a_killed_keeper_is_a_loss(self):
        child = self.hold("--ttl", "3s")
        trio = Trio(child.pid)
        command = trio.command()
        send(signal.SIGKILL, trio.keeper)
        self.assertEqual(child.wait(PATIENCE_S), LOST)
        self.assertFalse(alive(command))

    def test_a_killed_guardian_takes_everything_with_it(self):
        child = self.hold("--ttl", "3s", script="setsid sleep 1000 & echo held; echo $!; exec sleep 1000")
        trio, behind = Trio(child.pid), int(child.stdout.readline())
        command = trio.command()
        send(signal.SIGKILL, trio.guardian)
        self.assertEqual(child.wait(PATIENCE_S), LOST)
        self.assertFalse(alive(command) or alive(behind) or alive(trio.keeper))

    def test_sigterm_comes_a_grace_before_sigkill(self):
        script = "trap 'echo got TERM; sleep 0.2; echo in order; exit 0' TERM; echo held; while :; do sleep 0.02; done"
        child = self.hold("--ttl", "10s", "--grace", "2s", script=script)
        send(signal.SIGSTOP, Trio(child.pid).keeper)
        self.assertEqual([child.stdout.readline() for _ in range(2)], ["got TERM\n", "in order\n"])
        self.assertEqual(child.wait(PATIENCE_S), LOST)

    def test_neither_a_strange_name_nor_being_stopped_saves_a_process(self):
        strange = os.path.join(self.folder, ") R 1 (sh")
        shutil.copy("/bin/sleep", strange)
        script = f'setsid "{strange}" 1000 & echo held; echo $!; exec sleep 1000'
        child = self.hold("--ttl", "2s", script=script)
        pid, trio = int(child.stdout.readline()), Trio(child.pid)
        eventually(lambda: comm(pid) == ") R 1 (sh", what="the strange one")
        send(signal.SIGSTOP, pid, trio.command(), trio.keeper)
        self.assertEqual(child.wait(PATIENCE_S), LOST)
        self.assertFalse(alive(pid))

    def test_a_lock_that_the_engine_has_no_more_is_lost(self):
        if run_base.server.kind != "redis":
            self.skipTest("needs a server that can forget")
        child = self.hold("--ttl", "2s")
        host, port = run_base.server.url.removeprefix("redis://").split(":")
        with socket.create_connection((host, int(port))) as raw:
            raw.sendall(b"FLUSHALL\r\n")
            raw.recv(64)
        self.assertEqual(child.wait(PATIENCE_S), LOST)
        self.assertIn(self.name, child.stderr.read())

    def test_a_lock_that_was_taken_at_once_was_told_as_an_end_by_itself(self):
        """The command was asked to end first; if it did before it was heard that the lock was lost, it had ended by itself."""
        child = self.hold()
        self.assertEqual(tyer("break", self.name, "--now", "--yes", "--reason", "now").returncode, 0)
        self.assertEqual(child.wait(PATIENCE_S), LOST)


NO_PROC = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]


@unittest.skipIf(subprocess.run([*NO_PROC, "true"], capture_output=True).returncode, "/proc cannot be taken away here")
class WithoutProc(RunTest):
    """Only /proc tells what came from the command and has left its process group since."""

    def tyer(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([*NO_PROC, TYER, *words], stdin=subprocess.DEVNULL, capture_output=True, env=environment(),
                              timeout=60, start_new_session=True)

    def test_a_grandchild_outlived_the_lock_in_silence(self):
        for verb in ("run", "try", "elect"):
            with self.subTest(verb):
                done = self.tyer(verb, self.name, "--", "echo", "started")
                self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
                self.assertIn(b"/proc", done.stderr)
                self.assertIn(b"--without-proc", done.stderr)
                self.assertTrue(self.is_free())

    def test_who_knows_that_nothing_leaves_may_run_it(self):
        done = self.tyer("run", self.name, "--without-proc", "--", "sh", "-c", "echo started; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, b"started\n"))
        self.assertEqual(done.stderr, b"")

    def test_what_stayed_in_the_group_of_the_command_outlived_it(self):
        begun = time.monotonic()
        done = self.tyer("run", self.name, "--without-proc", "--grace", "1s", "--", "sh", "-c", "trap '' TERM; sleep 50 & exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertLess(time.monotonic() - begun, 30)


class Json(RunTest):
    """What --json prints, which is as its schema says."""

    def story(self, *words: str) -> dict:
        done = tyer("--json", *words)
        story = json.loads(next(line for line in done.stderr.splitlines() if line.startswith(b"{")))
        harness.check_schema("run", story)
        self.assertEqual(story["code"], done.returncode)
        return story

    def test_how_it_went(self):
        ended = self.story("run", self.name, "--", "sh", "-c", "exit 3")
        self.assertEqual((ended["name"], ended["outcome"], ended["code"]), (self.name, "ended", 3))
        self.assertTrue(int(ended["token"]) > 0 and ended["held_ms"] >= 0)

    def test_that_nothing_came_of_it(self):
        self.hold()
        self.assertEqual(self.story("try", self.name, "--", "true")["outcome"], "not_acquired")

    def test_that_it_was_lost(self):
        child = self.start("--json", "run", self.name, "--ttl", "2s", "--", "sleep", "1000")
        trio = Trio(child.pid)
        trio.command()
        send(signal.SIGKILL, trio.keeper)
        self.assertIn('"outcome":"lost"', child.communicate(timeout=PATIENCE_S)[1])


class OncePer(RunTest):
    def test_the_second_is_left_out_in_silence(self):
        first, second = (tyer("run", self.name, "--once-per", "1h", "--", "echo", "done") for _ in range(2))
        self.assertEqual((first.returncode, first.stdout), (0, b"done\n"))
        self.assertEqual((second.returncode, second.stdout, second.stderr), (0, b"", b""))

    def test_with_a_flag_the_code_says_so(self):
        words = ("run", self.name, "--once-per", "1h", "--fail-if-skipped", "--", "true")
        self.assertEqual([tyer(*words).returncode for _ in range(2)], [0, NOT_ACQUIRED])

    def test_a_skip_that_counts_as_a_failure_said_nothing(self):
        words = ("run", self.name, "--once-per", "1h", "--fail-if-skipped", "--", "true")
        tyer(*words)
        self.assertIn(b"not started", tyer(*words).stderr)

    def test_after_the_period_it_runs_again(self):
        words = ("run", self.name, "--once-per", "1s", "--", "echo", "done")
        self.assertEqual(tyer(*words).stdout, b"done\n")
        eventually(lambda: tyer(*words).stdout, what="a second run")

    def test_a_command_that_is_not_there_uses_up_nothing(self):
        self.assertEqual(tyer("run", self.name, "--once-per", "1h", "--", "no-such").returncode, 127)
        self.assertEqual(tyer("run", self.name, "--once-per", "1h", "--", "echo", "done").stdout, b"done\n")

    def test_its_memory_can_be_broken(self):
        words = ("run", self.name, "--once-per", "1h", "--", "echo", "done")
        tyer(*words)
        self.assertEqual(tyer("break", f"{self.name}:once", "--now", "--yes", "--reason", "again").returncode, 0)
        self.assertEqual(tyer(*words).stdout, b"done\n")

    @unittest.skipUnless(KIND == "redis", "Redis only")
    def test_beside_redisson_its_memory_was_shown_as_held_by_somebody(self):
        url = ("--url", run_base.server.url + "?protocol=redisson")
        self.assertEqual(tyer(*url, "run", self.name, "--once-per", "1h", "--", "true").returncode, 0)
        self.assertRegex(tyer(*url, "ls", self.name).stdout.decode(), rf"{self.name}:once +kept ")
        self.assertIn(b"--now frees it", tyer(*url, "show", f"{self.name}:once").stdout)
        held = tyer(*url, "run", self.name, "--", "tyer", *url, "ls", self.name).stdout.decode()
        self.assertRegex(held, rf"{self.name} +held ")

    def test_its_memory_was_shown_and_asked_like_a_holder(self):
        tyer("run", self.name, "--once-per", "1h", "--", "true")
        shown = tyer("show", f"{self.name}:once").stdout
        self.assertIn(b"  kept by   ", shown)
        self.assertIn(b"tyer run --once-per\n", shown)
        self.assertIn(b"--now frees it", shown)
        self.assertIn(f"{self.name}:once  kept\n".encode(), shown)
        self.assertRegex(tyer("ls", self.name).stdout.decode(), rf"{self.name}:once +kept ")
        self.assertEqual(harness.tyer_json(run_base.server.url, "show", f"{self.name}:once")["state"], "kept")
        begin = time.monotonic()
        done = tyer("break", f"{self.name}:once", "--yes", "--reason", "again", "--timeout", "100s")
        self.assertLess(time.monotonic() - begin, PATIENCE_S)
        self.assertEqual(done.returncode, NOT_ACQUIRED)
        self.assertRegex(done.stderr, rb"kept by --once-per for .* more: there is no holder to ask\n--now frees it")


if __name__ == "__main__":
    run_base.main()
