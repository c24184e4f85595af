#!/usr/bin/python3
"""Which engine is meant, what is said when none is, and every exit code that needs no lock."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
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

    def test_a_variable_that_is_not_read_was_passed_over_in_silence(self):
        here = {"TYER_URI": self.url}
        self.assertIn('TYER_URI is set, but tyer reads TYER_URL: export TYER_URL="$TYER_URI"\n',
                      tyer(None, "ls", env=here, code=harness.USAGE).stderr)
        self.assertIn("TYER_URI is set, but tyer reads TYER_URL", tyer(None, "config", "show", env=here).stdout)
        folder = self.config(f"url = {self.url}\n")
        self.assertIn("note    TYER_URI is set", tyer(None, "config", "show", env=here | {"XDG_CONFIG_HOME": folder}).stdout)
        self.assertNotIn("TYER_URI", tyer(self.url, "config", "show", env=here).stdout)

    def test_config_without_an_engine_did_not_say_what_to_do(self):
        self.assertIn("export TYER_URL=redis://", tyer(None, "config", "show").stdout)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        here = {"XDG_CONFIG_HOME": folder.name}
        self.assertIn('the line that begins with "# url ="', tyer(None, "config", "init", env=here).stdout)
        with open(os.path.join(folder.name, "tyer", "config"), encoding="utf-8") as file:
            self.assertIn("\n# url = ", file.read())
        harness.check_schema("config", json.loads(tyer(None, "config", "show", "--json", env=here).stdout))

    def test_an_option_of_the_url_that_is_mistyped_got_no_hint(self):
        for option, hint in (("prefx=x:", "Did you mean ?prefix=?"), ("tombstone_tl=9", "Did you mean ?tombstone_ttl=?"),
                             ("protocl=redisson", "Did you mean ?protocol=?"), ("tll=30", "tyer run --ttl"), ("ttl=30", "tyer run --ttl")):
            with self.subTest(option):
                done = tyer(f"redis://127.0.0.1?{option}", "ls", code=harness.USAGE)
                self.assertIn(hint, done.stderr)
                self.assertIn("It comes from TYER_URL.", done.stderr)

    def test_the_command_line_goes_before_the_environment_before_the_file(self):
        folder = self.config(f"# mine\n\nurl = {self.url}\nurl.far = {NOBODY_LISTENS}\n")
        here = {"XDG_CONFIG_HOME": folder}
        tyer(None, "ls", env=here)
        tyer(NOBODY_LISTENS, "ls", *QUICK, env=here, code=harness.UNREACHABLE)
        tyer(NOBODY_LISTENS, "--url", self.url, "ls", env=here)
        tyer(None, "ls", "--url", "far", *QUICK, env=here, code=harness.UNREACHABLE)
        tyer(None, "--config", os.path.join(folder, "tyer", "config"), "ls")

    def test_what_the_machine_says_is_asked_where_the_person_says_nothing(self):
        folder = self.config(f"url = {NOBODY_LISTENS}\nurl.near = {self.url}\nprefix = machine:\n")
        machine = {"TYER_SYSTEM_CONFIG": os.path.join(folder, "tyer", "config")}
        tyer(None, "ls", *QUICK, env=machine, code=harness.UNREACHABLE)
        tyer(None, "--url", "near", "ls", env=machine)
        mine = machine | {"XDG_CONFIG_HOME": self.config(f"url = {self.url}\n")}
        told = tyer(None, "show", "x", env=mine, code=harness.NO).stdout
        self.assertIn(self.url, told)
        self.assertIn("machine:", told)  # name by name
        done = tyer(None, "--url", "redis://h:0", "ls", env=mine, code=harness.USAGE)
        self.assertIn("It comes from --url.", done.stderr)
        with open(machine["TYER_SYSTEM_CONFIG"], "w", encoding="utf-8") as file:
            file.write("url = redis://h:0\n")
        self.assertIn(machine["TYER_SYSTEM_CONFIG"], tyer(None, "ls", env=machine, code=harness.USAGE).stderr)

    def test_a_file_is_written_once(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        here = {"XDG_CONFIG_HOME": folder.name, "TYER_SYSTEM_CONFIG": os.path.join(folder.name, "etc", "tyer", "config")}
        mine = os.path.join(folder.name, "tyer", "config")
        told = tyer(None, "--url", self.url, "--prefix", "mine:", "config", "init", env=here).stdout
        self.assertIn(f"{mine} was written, with {self.url}", told)
        self.assertEqual(os.stat(mine).st_mode & 0o777, 0o600)
        self.assertIn("mine:", tyer(None, "show", "x", env=here, code=harness.NO).stdout)
        self.assertIn("exists already", tyer(None, "config", "init", env=here, code=harness.USAGE).stderr)
        tyer(self.url, "config", "init", "--system", env=here)
        self.assertEqual(os.stat(here["TYER_SYSTEM_CONFIG"]).st_mode & 0o777, 0o644)
        os.remove(here["TYER_SYSTEM_CONFIG"])
        secret = "redis://u:geheim@127.0.0.1:1"
        self.assertNotIn("geheim", tyer(secret, "config", "init", "--system", env=here).stdout)
        self.assertEqual(os.stat(here["TYER_SYSTEM_CONFIG"]).st_mode & 0o777, 0o600)
        shown = tyer(None, "config", "show", env=here).stdout
        self.assertRegex(shown, rf"url     {self.url}  \(the configuration file {mine}\)\nprefix  mine:\n")
        self.assertNotIn("geheim", tyer(secret, "config", "show").stdout)
        told = tyer(self.url, "config", "show", "--json").stdout
        harness.check_schema("config", json.loads(told))
        self.assertEqual((json.loads(told)["url"], json.loads(told)["source"]), (self.url, "TYER_URL"))

    def test_a_file_is_named_with_what_to_do_when_it_cannot_be_written(self):
        self.assertIn("cannot write", tyer(None, "--config", "/proc/no/config", "config", "init", code=harness.FAILED).stderr)
        tyer("prod", "config", "init", env={"XDG_CONFIG_HOME": "/nonexistent"}, code=harness.USAGE)

    def test_a_file_that_is_wrong_is_named_with_its_line(self):
        for text, word in (("url redis://u:geheim@x", "line 1"), ("\nhurl = 1", "line 2: unknown name 'hurl'")):
            done = tyer(None, "ls", env={"XDG_CONFIG_HOME": self.config(text)}, code=harness.USAGE)
            self.assertIn(word, done.stderr)
            self.assertNotIn("geheim", done.stderr)
        tyer(None, "--config", "/nonexistent/config", "ls", code=harness.USAGE)

    def test_a_name_that_the_file_does_not_have(self):
        self.assertIn("url.prod", tyer(None, "--url", "prod", "ls", code=harness.USAGE).stderr)

    def test_a_host_and_a_port_were_told_as_neither_a_url_nor_a_name(self):
        for typed, meant in (("127.0.0.1:26911", "redis://127.0.0.1:26911"), ("locks.example.net:2379", "etcd://locks.example.net:2379")):
            with self.subTest(typed):
                done = tyer(None, "--url", typed, "ls", code=harness.USAGE)
                self.assertIn(f"'{typed}' is no URL", done.stderr)
                self.assertIn(f"Did you mean {meant}?", done.stderr)
        for typed in ("u:geheim", ":6379", "geheim@h:6379", "h:6379/geheim", "u:geheim:6379"):
            with self.subTest(typed):
                self.assertNotIn("geheim", tyer(None, "--url", typed, "ls", code=harness.USAGE).stderr)

    def test_a_host_that_is_not_known_was_answered_with_what_to_look_at_in_a_server(self):
        done = tyer("redis://nobody.invalid", "ls", *QUICK, code=harness.UNREACHABLE)
        self.assertIn("Correct the host name in the URL", done.stderr)

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

    def test_a_wrong_password_was_told_only_when_the_time_to_connect_was_over(self):
        for words in (("ls",), ("doctor",), ("run", "x", "--", "true")):
            with self.subTest(words):
                begin = time.monotonic()
                done = tyer(self.url.replace("://", "://u:geheim@"), *words, "--connect-timeout", "100s", code=harness.REFUSED)
                self.assertLess(time.monotonic() - begin, harness.PATIENCE_S)
                self.assertIn("check the user and the password in the URI", " ".join((done.stderr + done.stdout).split()))
                self.assertNotIn("geheim", done.stderr + done.stdout)

    def test_a_login_that_is_refused_was_told_without_where_it_is_set(self):
        done = tyer(self.url.replace("://", "://u:geheim@"), "ls", code=harness.REFUSED)
        self.assertIn("`tyer config show` says where the URL is set.", done.stderr)

    def test_a_database_that_does_not_exist_was_told_only_when_the_time_to_connect_was_over(self):
        for words in (("ls",), ("doctor",), ("run", "x", "--", "true")):
            with self.subTest(words):
                begin = time.monotonic()
                done = tyer(self.url + "/77", *words, "--connect-timeout", "100s", code=harness.REFUSED)
                self.assertLess(time.monotonic() - begin, harness.PATIENCE_S)
                said = " ".join((done.stderr + done.stdout).split())
                self.assertIn("ERR DB index is out of range", said)
                self.assertIn("correct the database at the end of the URI, /77", said)
                self.assertNotIn("password", said)

    def test_a_server_in_another_role_was_told_only_when_the_time_to_connect_was_over(self):
        begin = time.monotonic()
        done = tyer(self.url.replace("redis:", "redis+cluster:"), "ls", "--connect-timeout", "100s", code=harness.UNREACHABLE)
        self.assertLess(time.monotonic() - begin, harness.PATIENCE_S)
        self.assertIn("Begin the URL with redis://. `tyer config show` says where the URL is set.", done.stderr)

    def test_a_missing_password_was_told_without_how_to_give_one(self):
        with Engine("redis", "--password", "geheim") as engine:
            done = tyer(engine.url.replace(":geheim@", ""), "ls", code=harness.REFUSED)
        self.assertIn("redis://:PASSWORD@HOST or redis://USER:PASSWORD@HOST", done.stderr)

    def test_tls_on_one_side_only_was_told_as_silence(self):
        done = tyer(self.url.replace("redis:", "rediss:"), "ls", code=harness.UNREACHABLE)
        self.assertIn("if that port does not speak TLS", done.stderr)
        with Engine("redis", "--tls") as engine:
            plain = engine.url.replace("rediss:", "redis:").split("?")[0]
            self.assertIn("if that port speaks TLS", tyer(plain, "ls", "--connect-timeout", "2s", code=harness.UNREACHABLE).stderr)

    def test_the_doctor_sent_people_to_the_doctor(self):
        refused = self.url.replace("://", "://u:geheim@")
        for url, code in ((NOBODY_LISTENS, harness.UNREACHABLE), (refused, harness.REFUSED)):
            for words in (("ls",), ("show", "x"), ("run", "x", "--", "true")):
                with self.subTest((url, words)):
                    done = tyer(url, *words, "--connect-timeout", "2s", code=code)
                    self.assertNotIn("tyer doctor", done.stderr)
                    self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)  # what is wrong, and what to look at

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

    def test_a_mistyped_scheme_was_told_as_an_engine_that_is_not_built_in(self):
        for typed, meant in (("reds", "redis"), ("redis+sentinal", "redis+sentinel"), ("ectd", "etcd"), ("mongodb", "")):
            with self.subTest(typed):
                done = tyer(f"{typed}://u:geheim@127.0.0.1", "ls", code=harness.USAGE)
                self.assertNotIn("built without", done.stderr)
                self.assertIn(f"Did you mean {meant}://?" if meant else "tyer version", done.stderr)
                self.assertIn("The URL comes from TYER_URL", done.stderr)
                self.assertNotIn("geheim", done.stderr)

    def test_a_url_that_is_wrong_in_one_place_was_answered_with_how_to_name_an_engine(self):
        folder = self.config("url = redis://h:port\nurl.prod = redis://h:0\n")
        here = {"XDG_CONFIG_HOME": folder}
        for done, word, source in (
            (tyer("redis://h?ca=/x", "ls", code=harness.USAGE), "begins with rediss", "TYER_URL"),
            (tyer(None, "--url", "redis://h:99999", "ls", code=harness.USAGE), "port", "--url"),
            (tyer(None, "ls", env=here, code=harness.USAGE), "port", "the configuration file"),
            (tyer(None, "--url", "prod", "ls", env=here, code=harness.USAGE), "port", "url.prod in the configuration file"),
        ):
            with self.subTest(source):
                self.assertIn(word, done.stderr)
                self.assertRegex(done.stderr, f"It comes from {source}( {folder}/tyer/config)?\\.")
                self.assertNotIn("Name the engine", done.stderr)

    def test_version(self):
        told = tyer_json(None, "version")
        self.assertIn("redis", told["engines"])
        self.assertIn(told["version"], tyer(None, "version").stdout)


if __name__ == "__main__":
    harness.main()
