#!/usr/bin/python3
"""Commands that go on until somebody ends them (top, watch, exporter): how they end, and what they leave behind."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools", "lib"))
sys.dont_write_bytecode = True

import harness
import resp
from harness import PATIENCE_S, TYER, Engine, Holder, Terminal, Watching, environment, eventually, tyer
from run_shell import CTRL_C, CTRL_Z, Shell

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?25h\x1b[?1049l"
CTRL_BACKSLASH = "\x1c"
GO_ON = (("top",), ("watch",), ("watch", "a"), ("top", "--json"))


class GoingOn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.url = stack.enter_context(Engine("redis")).url
        cls.port = int(cls.url.rsplit(":", 1)[1])
        stack.enter_context(Holder(cls.url, "a", ttl_ms=600000)).held()  # longer than a machine may stand still

    def start(self, *words: str, url: str | None = None, **more) -> subprocess.Popen:
        process = subprocess.Popen([TYER, *words], env=environment(url or self.url), **more)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    # --- signals

    def test_a_signal_was_not_heard_before_the_end_of_a_listing(self):
        def all_junk(verb: str, *more: str) -> None:
            with resp.Connection(self.port, 30.0) as redis:
                redis.ask("EVAL", "for i = 1, 100000 do redis.call(ARGV[1], 'junk/' .. i, ARGV[2]) end", "0", verb, *more)
        all_junk("SET", "1")
        self.addCleanup(all_junk, "DEL", "junk")  # else every look of the others goes through it
        slow = harness.Slow(self.port, late_s=0.3)
        self.addCleanup(slow.close)
        for words in (("top",), ("watch",), ("exporter", "--listen", "127.0.0.1:0")):
            with self.subTest(words):
                before = slow.answers
                process = self.start(*words, url=f"redis://127.0.0.1:{slow.port}", stdout=subprocess.DEVNULL)
                eventually(lambda: slow.answers > before + 6, what="a listing")  # of about a hundred pages
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(timeout=15), harness.OK)

    # --- output

    def test_output_that_nobody_can_read_was_written_for_ever(self):
        for words in GO_ON:
            with self.subTest(words), open("/dev/full", "wb") as full:
                process = self.start(*words, "--every", "100ms", stdout=full, stderr=subprocess.PIPE, text=True)
                said = process.communicate(timeout=PATIENCE_S)[1]
                self.assertEqual((process.returncode, said), (harness.FAILED, "tyer: the output could not be written\n"))

    def test_one_with_nothing_to_say_did_not_notice_that_its_reader_was_gone(self):
        with Watching(self.url, "watch", "b") as quiet:
            self.assertIn("free", quiet.line())
            quiet.process.stdout.close()
            self.assertEqual(quiet.process.wait(timeout=PATIENCE_S), 128 + signal.SIGPIPE)
            quiet.process.stdout = open(os.devnull, "rb")

    def test_an_exporter_that_nobody_heard_say_where_it_is_ended_as_if_it_had_failed(self):
        with open("/dev/full", "wb") as full:
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            process = self.start("exporter", "--listen", f"127.0.0.1:{port}", "--every", "100ms", stdout=full, stderr=subprocess.DEVNULL)

            def looks() -> int:
                with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
                    return int(page.read().split(b'looks_total{outcome="answered"} ')[1].split()[0])
                return 0
            eventually(lambda: looks() > 2, what="several looks")
            process.terminate()
            self.assertEqual(process.wait(timeout=PATIENCE_S), harness.OK)

    def test_what_was_opened_first_was_what_it_printed_to_if_that_was_closed(self):
        closed = f"exec {TYER} exporter --listen 127.0.0.1:0 <&- >&- 2>&-"
        process = subprocess.Popen(["sh", "-c", closed], env=environment(self.url))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def listens() -> bool:
            with contextlib.suppress(OSError):
                return sum(os.readlink(f"/proc/{process.pid}/fd/{n}").startswith("socket:") for n in os.listdir(f"/proc/{process.pid}/fd")) > 1
            return False
        eventually(listens, what="its sockets")
        self.assertEqual([os.readlink(f"/proc/{process.pid}/fd/{n}") for n in range(3)], ["/dev/null"] * 3)
        done = subprocess.run(["sh", "-c", f"{TYER} ls >&-"], env=environment(self.url), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (harness.FAILED, "tyer: the output could not be written\n"))

    # --- the terminal

    def test_ctrl_z_left_the_shell_on_the_other_screen_without_a_cursor(self):
        shell = Shell(self.url)
        self.addCleanup(shell.close)
        shell.type(f"{TYER} top --every 60s\n")
        shell.expect("Ctrl-C ends")
        shell.type(CTRL_Z)
        before = shell.expect("Stopped")
        self.assertIn(LEAVE.decode(), before)
        shell.until_prompt()
        shell.type("fg\n")
        again = shell.expect("Ctrl-C ends")  # at once: the next look is in a minute
        self.assertIn(ENTER.decode(), again)
        shell.type(CTRL_C)
        self.assertIn(LEAVE.decode(), shell.until_prompt())

    def test_ctrl_backslash_left_the_terminal_on_the_other_screen_without_a_cursor(self):
        for words in (("top",), ("watch",), ("watch", "a")):
            with self.subTest(words), Terminal(self.url, *words) as screen:
                screen.await_text("Ctrl-C ends")
                screen.type(CTRL_BACKSLASH)
                self.assertEqual(screen.end(), 128 + signal.SIGQUIT)
                self.assertTrue(screen.raw.endswith(LEAVE), screen.raw[-60:])

    def test_a_window_that_was_made_larger_stayed_half_empty_until_the_next_look(self):
        with Terminal(self.url, "top", "--every", "60s", lines=24) as screen:
            screen.await_text("Ctrl-C ends")
            drawn = screen.raw.count(b"\x1b[H")
            screen.child.setwinsize(40, 100)
            eventually(lambda: (screen.lines(), screen.raw.count(b"\x1b[H") > drawn)[1], what="another picture")

    def test_a_terminal_that_knows_no_sequences_was_sent_them(self):
        for term in ("dumb", ""):
            for words in (("top",), ("watch",), ("watch", "a")):
                with self.subTest(words, term=term), Terminal(self.url, *words, "--for", "300ms", env={"TERM": term}) as screen:
                    self.assertEqual(screen.end(), harness.OK)
                    self.assertNotIn(b"\x1b", screen.raw)
                    self.assertIn(b"a ", screen.raw)


if __name__ == "__main__":
    harness.main()
