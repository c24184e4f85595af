#!/usr/bin/python3
"""Which engine is meant, what is said when none is, and every exit code that needs no lock."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import NOBODY_LISTENS, Engine, Terminal, tyer, tyer_json

QUICK = ("--connect-timeout", "300ms")


class Settings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.url = stack.enter_context(Engine("redis")).url

    def config(self, text: str) -> str:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.makedirs(os.path.join(folder.name, "tyer"))
        with open(os.path.join(folder.name, "tyer", "config"), "w", encoding="utf-8") as file:
            file.write(text)
        return folder.name

    def test_no_engine_gives_an_example(self):
        done = tyer(None, "ls", code=harness.USAGE)
        self.assertIn("export TYER_URL=redis://", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_the_command_line_goes_before_the_environment_before_the_file(self):
        folder = self.config(f"# mine\n\nurl = {self.url}\nurl.far = {NOBODY_LISTENS}\n")
        here = {"XDG_CONFIG_HOME": folder}
        tyer(None, "ls", env=here)
        tyer(NOBODY_LISTENS, "ls", *QUICK, env=here, code=harness.UNREACHABLE)
        tyer(NOBODY_LISTENS, "--url", self.url, "ls", env=here)
        tyer(None, "ls", "--url", "far", *QUICK, env=here, code=harness.UNREACHABLE)
        tyer(None, "--config", os.path.join(folder, "tyer", "config"), "ls")

    def test_a_file_that_is_wrong_is_named_with_its_line(self):
        for text, word in (("url redis://u:geheim@x", "line 1"), ("\nhurl = 1", "line 2: unknown name 'hurl'")):
            done = tyer(None, "ls", env={"XDG_CONFIG_HOME": self.config(text)}, code=harness.USAGE)
            self.assertIn(word, done.stderr)
            self.assertNotIn("geheim", done.stderr)
        tyer(None, "--config", "/nonexistent/config", "ls", code=harness.USAGE)

    def test_a_name_that_the_file_does_not_have(self):
        self.assertIn("url.prod", tyer(None, "--url", "prod", "ls", code=harness.USAGE).stderr)

    def test_secrets_are_never_printed(self):
        for url in ("redis://u:geheim@127.0.0.1:1", "redis://u:geheim@127.0.0.1:1/x", "redis://u:gehe/im@127.0.0.1", "x://u:geheim@h"):
            done = tyer(url, "ls", *QUICK, code=None)
            self.assertIn(done.returncode, (harness.UNREACHABLE, harness.USAGE))
            self.assertNotIn("gehe", done.stderr + done.stdout)

    def test_a_password_in_a_mistyped_url_was_printed(self):
        urls = ("redis:/:geheim@127.0.0.1", "redis:/u:geheim@127.0.0.1", "redis//u:geheim@h", "redis;//u:geheim@h", "u:geheim@h", ":geheim@h",
                "geheim@h", "redis:u:geheim@h", "redis:/u:geh@eim@h", "redis:/u:ge/heim@h", "redis:/u:ge:heim@h", "redis:/u:ge?heim@h",
                "redis:/h?sentinel_password=geheim", "redis:/h?sentinel_password=x@geheim", "redis:/:geheim:h", "REDIS:/u:geheim@h")
        for url in urls:
            for way, done in (
                ("TYER_URL", tyer(url, "ls", code=harness.USAGE)),
                ("--url", tyer(None, "--url", url, "ls", code=harness.USAGE)),
                ("the file", tyer(None, "ls", env={"XDG_CONFIG_HOME": self.config(f"url = {url}\n")}, code=harness.USAGE)),
                ("a name", tyer("prod", "ls", env={"XDG_CONFIG_HOME": self.config(f"url.prod = {url}\n")}, code=harness.USAGE)),
            ):
                with self.subTest(f"{url} by {way}"):
                    for part in ("geh", "heim", "eim"):
                        self.assertNotIn(part, done.stderr + done.stdout)

    def test_a_url_at_a_wrong_place_is_shown_without_its_password(self):
        url = "redis://u:ge?heim@127.0.0.1"
        for words in ((url, "ls"), ("ls", "x", url), ("--urll", url, "ls"), (f"--urll={url}", "ls"), ("--color", url, "ls"),
                      ("--connect-timeout", url, "ls"), ("wait", "x", f"--timeout={url}"), ("run", "x", "--permits", url, "--", "true"),
                      ("completions", url), ("--config", url, "ls")):
            with self.subTest(words):
                done = tyer(None, *words, code=harness.USAGE)
                self.assertNotIn("heim", done.stderr + done.stdout)
        self.assertIn("no command 'redis://…'", tyer(None, url, code=harness.USAGE).stderr)
        done = tyer(None, "ls", env={"XDG_CONFIG_HOME": self.config("redis://u:geheim@h?prefix=x\n")}, code=harness.USAGE)
        self.assertIn("line 1", done.stderr)
        self.assertNotIn("geheim", done.stderr)

    def test_a_wrong_password_is_refused_or_not_reached(self):
        done = tyer(self.url.replace("://", "://u:geheim@"), "ls", *QUICK, code=None)
        self.assertIn(done.returncode, (harness.UNREACHABLE, harness.REFUSED))
        self.assertNotIn("geheim", done.stderr)

    def test_called_wrongly(self):
        for words, text in (
            ((), "Usage: tyer"),
            (("bogus",), "no command 'bogus'"),
            (("show",), "NAME is required"),
            (("ls", "--bogus"), "--bogus"),
            (("wait", "x", "--timeout", "5"), "like 500ms, 30s"),
            (("watch", "--every", "soon"), "like 500ms, 30s"),
            (("--color", "sometimes", "ls"), "sometimes"),
            (("completions", "csh"), "csh"),
            (("show", "x" * 2000), "1024"),
            (("man", "bogus"), "no command bogus"),
        ):
            with self.subTest(words=words[:2]):
                self.assertIn(text, tyer(self.url, *words, code=harness.USAGE).stderr)

    def test_durations(self):
        for fine in ("0", "1ms", "500ms", "30s", "1m30s", "2h", "1d", "5min"):
            tyer(self.url, "wait", "free", "--timeout", fine)
        for wrong in ("", "5", "s", "1.5s", "-1s", "1s2", "1 s", "1w", "99999999999d", "9999999999999999999999s"):
            with self.subTest(wrong):
                tyer(self.url, "wait", "free", "--timeout=" + wrong, code=harness.USAGE)

    def test_an_engine_that_is_not_there(self):
        self.assertIn("Connection refused", tyer(NOBODY_LISTENS, "ls", *QUICK, code=harness.UNREACHABLE).stderr)

    def test_a_person_sees_that_it_is_connecting(self):
        with Terminal(NOBODY_LISTENS, "ls", "--connect-timeout", "2500ms") as terminal:
            terminal.await_text("connecting to redis://127.0.0.1:1")
            self.assertEqual(terminal.end(), harness.UNREACHABLE)

    def test_an_engine_that_this_tyer_does_not_have(self):
        self.assertIn("tyer version", tyer("nothing://127.0.0.1", "ls", code=harness.USAGE).stderr)

    def test_version(self):
        told = tyer_json(None, "version")
        self.assertIn("redis", told["engines"])
        self.assertIn(told["version"], tyer(None, "version").stdout)


if __name__ == "__main__":
    harness.main()
