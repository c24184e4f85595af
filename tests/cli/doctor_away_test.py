#!/usr/bin/python3
"""doctor where nothing works: what it says, what it says to do, and how soon."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import NOBODY_LISTENS, Engine, Terminal, tyer

sys.path.insert(0, os.path.join(harness.ROOT, "tools", "lib"))
import resp

# That it is 2 s is said in cli/doctor/reaching.cpp, where it can be added up. Here: it does not wait for what cannot come.
PATIENT = ("--connect-timeout", "100s")
# For who accepts connections and says nothing: an answer could come until then.
NOT_FOR_LONG = ("--connect-timeout", "3s")
ENGINES = json.loads(tyer(None, "version", "--json").stdout)["engines"]
HAS_ETCD = "etcd" in ENGINES


class Port:
    """Somebody else's server: says that to whoever connects, and nothing more."""

    def __init__(self, words: bytes):
        self._words, self._open = words, []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.number = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Port:
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for s in (self._listener, *self._open):
            s.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._open.append(self._listener.accept()[0])
                self._open[-1].sendall(self._words)


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


@contextlib.contextmanager
def busy_redis():
    """The URL of a server that runs a script without end."""
    with Engine("redis") as engine:
        port = int(engine.url.rsplit(":", 1)[1])
        with resp.Connection(port, harness.PATIENCE_S) as one, resp.Connection(port, harness.PATIENCE_S) as other:
            one.ask("CONFIG", "SET", "lua-time-limit", "1")
            script = threading.Thread(target=lambda: refused(one, "EVAL", "while true do end", "0"))
            script.start()
            harness.eventually(lambda: refused(other, "PING").startswith("BUSY"), what="a script that runs")
            try:
                yield engine.url
            finally:
                other.ask("SCRIPT", "KILL")
                script.join()


def refused(connection: resp.Connection, *words: str) -> str:
    """What the server has against it."""
    try:
        connection.ask(*words)
    except resp.ReplyError as e:
        return str(e)
    return ""


class NothingWorks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.redis = stack.enter_context(Engine("redis"))
        cls.redis_port = int(cls.redis.url.rsplit(":", 1)[1])

    def told(self, url: str, code: int, patience: tuple[str, ...] = PATIENT) -> dict:
        """The one error of the report, which came in time."""
        begin = time.monotonic()
        done = tyer(url, "doctor", "--json", *patience, code=code)
        self.assertLess(time.monotonic() - begin, harness.PATIENCE_S)
        report = json.loads(done.stdout)
        harness.check_schema("doctor", report)
        self.assertFalse(report["healthy"])
        self.assertEqual(done.stderr, "")
        (wrong,) = [c for c in report["checks"] if c["level"] == "error"]
        self.assertTrue(wrong["advice"])
        return wrong

    def assert_told(self, url: str, what: str, advice: str, code: int = harness.UNREACHABLE, **how) -> None:
        wrong = self.told(url, code, **how)
        self.assertIn(what, wrong["what"])
        self.assertIn(advice, wrong["advice"])

    def user(self, name: str, *rules: str) -> str:
        with resp.Connection(self.redis_port, 5.0) as connection:
            connection.ask("ACL", "SETUSER", name, "on", ">geheim", "~*", "&*", "+@all", *rules)
        return f"redis://{name}:geheim@127.0.0.1:{self.redis_port}"

    def test_a_dead_port(self):
        self.assert_told(NOBODY_LISTENS, "nobody listens at 127.0.0.1:1 (Connection refused)", "start the server")

    def test_a_host_that_is_not_known(self):
        self.assert_told("redis://nobody.invalid:6379", "the host of nobody.invalid:6379 is not known",
                         "correct the host name in the URL, or check DNS and /etc/hosts")

    def test_a_host_that_is_not_known_and_has_no_port_was_told_as_a_server_of_the_right_protocol(self):
        hosts = [("redis://nobody.invalid", 6379), ("rediss://nobody.invalid", 6379), ("redis+sentinel://nobody.invalid/shop", 26379),
                 ("redis+cluster://nobody.invalid", 6379)]
        hosts += [("etcd://nobody.invalid", 2379)] if HAS_ETCD else []
        for url, port in hosts:
            with self.subTest(url):
                self.assert_told(url, f"the host of nobody.invalid:{port} is not known", "correct the host name in the URL")

    def test_an_ipv6_address_without_a_port_was_taken_apart_in_the_middle(self):
        self.assert_told("redis+sentinel://[::1]/shop", "[::1]:26379", "")

    def test_a_wrong_password(self):
        url = f"redis://u:geheim@127.0.0.1:{self.redis_port}"
        self.assert_told(url, "WRONGPASS", "check the user and the password in the URI", harness.REFUSED)

    def test_what_to_do_about_a_login_was_said_twice(self):
        with Engine("redis", "--password", "geheim") as engine:
            for url, advice in ((engine.url.replace(":geheim@", ""), "put the password into the URI"),
                                (engine.url.replace("geheim", "x"), "check the user and the password in the URI")):
                with self.subTest(advice):
                    wrong = self.told(url, harness.REFUSED)
                    self.assertTrue(wrong["advice"].startswith(advice), wrong)
                    self.assertNotIn("in the URI", wrong["what"])
                    self.assertNotIn("into the URI", wrong["what"])

    def test_a_right_that_is_missing_ended_the_examination(self):
        url = self.user("noscript", "-evalsha", "-eval")
        begin = time.monotonic()
        done = tyer(url, "doctor", "--json", *PATIENT, code=harness.NO)
        self.assertLess(time.monotonic() - begin, harness.PATIENCE_S)
        report = json.loads(done.stdout)
        harness.check_schema("doctor", report)
        errors = [c for c in report["checks"] if c["level"] == "error"]
        self.assertTrue(errors)
        for c in errors:
            self.assertIn("NOPERM", c["what"])
            self.assertIn("lacks +evalsha", c["what"])
            self.assertIn("Least privilege", c["advice"])
        self.assertIn("reached", report["checks"][0]["what"])

    def test_a_key_and_a_channel_that_are_missing(self):
        for url, word in ((self.user("nokeys", "resetkeys", "~other:*"), "~PREFIX*"), (self.user("deaf", "resetchannels"), "&PREFIX*")):
            with self.subTest(word):
                report = json.loads(tyer(url, "doctor", "--json", code=harness.NO).stdout)
                self.assertIn(word, " ".join(c["what"] for c in report["checks"] if c["level"] == "error"))

    def test_a_user_who_may_use_some_names_alone_was_told_to_lack_rights(self):
        url = self.user("orders", "resetkeys", "~order/*") + "?protocol=redisson"
        wrong = next(c for c in json.loads(tyer(url, "doctor", "--json", code=harness.NO).stdout)["checks"] if c["level"] == "error")
        self.assertIn("--under", wrong["advice"])
        told = json.loads(tyer(url, "doctor", "--under", "order/", "--ttl", "10min", "--json").stdout)
        harness.check_schema("doctor", told)
        self.assertTrue(told["healthy"], told)

    def test_a_user_without_info_was_told_as_an_engine_that_is_away(self):
        url = self.user("noinfo", "-info")
        wrong = self.told(url, harness.REFUSED)
        self.assertIn("lacks +info", wrong["what"])
        self.assertIn("Least privilege", wrong["advice"])
        for words in (("ls",), ("run", "x", "--", "true")):
            with self.subTest(words):
                begin = time.monotonic()
                said = tyer(url, *words, *PATIENT, code=harness.REFUSED).stderr
                self.assertIn("lacks +info", said)
                self.assertIn("knows this login, which lacks that right", said)
                self.assertNotIn("password", said)
                self.assertLess(time.monotonic() - begin, harness.PATIENCE_S)

    def test_a_server_that_wants_a_password_was_told_as_a_sentinel_that_does(self):
        with Engine("redis", "--password", "geheim") as engine:
            url = engine.url.replace("redis://", "redis+sentinel://") + "/shop"
            here = engine.url.rsplit("@", 1)[1]
            self.assert_told(url, f"{here} is a Redis server that wants a password, and is no sentinel", "redis://USER:PASSWORD@",
                             harness.REFUSED)
            self.assertIn("if this is no sentinel, begin it with redis://", tyer(url, "ls", *PATIENT, code=harness.REFUSED).stderr)
            url += "?sentinel_password=wrong"
            self.assert_told(url, f"{here} is a Redis server", "name the sentinels", harness.REFUSED)
            self.assert_told(url.replace("wrong", "geheim"), "is no sentinel", "begin it with redis://")

    def test_where_the_login_is_set_was_not_said(self):
        url = f"redis://u:geheim@127.0.0.1:{self.redis_port}"
        self.assert_told(url, "WRONGPASS", "redis://USER:PASSWORD@HOST", harness.REFUSED)
        self.assert_told(url, "WRONGPASS", "the URL comes from TYER_URL", harness.REFUSED)
        told = tyer(None, "--url", url, "doctor", code=harness.REFUSED).stdout
        self.assertIn("safer in TYER_URL or in ~/.config/tyer/config", " ".join(told.split()))

    @unittest.skipUnless(HAS_ETCD, "no etcd")
    def test_a_web_server_was_told_as_an_etcd_whose_log_is_to_be_looked_at(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server, contextlib.ExitStack() as stack:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            here = f"127.0.0.1:{server.server_port}"
            self.assert_told(f"etcd://{here}", f"{here} does not speak HTTP/2", "that is no etcd")
            begin = time.monotonic()
            done = tyer(f"etcd://{here}", "ls", *PATIENT, code=harness.UNREACHABLE)
            self.assertLess(time.monotonic() - begin, harness.PATIENCE_S)
            self.assertIn("That is no etcd", done.stderr)

    def test_tls_against_plain_text(self):
        self.assert_told(f"rediss://127.0.0.1:{self.redis_port}", "speaks plain text, and not TLS", "redis:// instead of rediss://")

    def test_plain_text_against_tls(self):
        with Engine("redis", "--tls") as engine:
            self.assert_told(engine.url.split("?")[0].replace("rediss:", "redis:"), "speaks TLS", "rediss:// instead of redis://")

    def test_a_certificate_was_told_as_a_server_whose_log_is_to_be_looked_at(self):
        with Engine("redis", "--tls") as engine:
            plain = engine.url.split("?")[0]
            for url, what, advice in ((plain, "certificate was not accepted", "name the authority that signed it with ?ca=FILE"),
                                      (engine.url.replace("127.0.0.1", "127.1"), "certificate was not accepted", "not made for 127.1"),
                                      (f"{plain}?ca=/nowhere", "?ca=/nowhere cannot be read as PEM certificates: No such file or directory", "correct the name of that file")):
                with self.subTest(url):
                    self.assert_told(url, what, advice)
                    begin = time.monotonic()
                    said = tyer(url, "ls", *PATIENT, code=harness.UNREACHABLE).stderr
                    self.assertLess(time.monotonic() - begin, harness.PATIENCE_S)
                    self.assertIn(what, said)
                    self.assertNotIn("firewall", said)

    @unittest.skipUnless(HAS_ETCD, "no etcd")
    def test_etcd_for_redis_and_the_other_way_round(self):
        with Engine("etcd") as etcd:
            port = etcd.url.rsplit(":", 1)[1]
            self.assert_told(f"redis://127.0.0.1:{port}", "speaks HTTP, as etcd does", "etcd://")
            self.assert_told(f"etcds://127.0.0.1:{port}", "speaks plain text, and not TLS", "etcd:// instead of etcds://")
            done = tyer(f"etcds://127.0.0.1:{port}", "ls", "--connect-timeout", "3s", code=harness.UNREACHABLE)
            self.assertIn("begins with etcd instead of etcds", done.stderr)
        self.assert_told(f"etcd://127.0.0.1:{self.redis_port}", "speaks Redis, and not etcd", "redis://")
        done = tyer(f"etcd://127.0.0.1:{self.redis_port}", "ls", "--connect-timeout", "3s", code=harness.UNREACHABLE)
        self.assertIn("What answers there instead: tyer doctor", done.stderr)

    def test_another_protocol(self):
        with Port(b"SSH-2.0-OpenSSH_9.2\r\n") as port:
            self.assert_told(f"redis://127.0.0.1:{port.number}", "it said: SSH-2.0-OpenSSH_9.2", "check the port")

    def test_a_database_was_told_as_no_redis(self):
        greeting = b"J\0\0\0\x0a11.4.2-MariaDB\0" + bytes(40)
        servers = ((b"N", "PostgreSQL", "postgres://"), (greeting, "MySQL or MariaDB", "mysql://"),
                   (b"Zookeeper version: 3.9.1\n", "ZooKeeper", "zk://"))
        for words, name, url in servers:
            with self.subTest(name), Port(words) as port:
                self.assert_told(f"redis://127.0.0.1:{port.number}", f"speaks {name}, and not Redis", f"use {url} in the URL")

    @unittest.skipUnless("postgres" in ENGINES, "no PostgreSQL")
    def test_a_redis_for_a_database(self):
        self.assert_told(f"postgres://127.0.0.1:{self.redis_port}/shop", "speaks Redis, and not PostgreSQL", "redis://")
        self.assert_told("postgres://127.0.0.1:1/shop", "nobody listens at 127.0.0.1:1", "listen_addresses")

    def test_a_server_that_says_nothing(self):
        with Port(b"") as port:
            self.assert_told(f"redis://127.0.0.1:{port.number}", "accepts connections but does not answer", "hangs",
                             patience=NOT_FOR_LONG)

    def test_a_server_that_runs_a_script_for_long_is_a_redis_that_is_busy(self):
        with busy_redis() as url:
            wrong = self.told(url, harness.UNREACHABLE, NOT_FOR_LONG)
        self.assertNotIn("neither", wrong["what"])
        self.assertIn("BUSY", wrong["what"])

    def test_one_of_several_that_is_dead_is_named(self):
        with Port(b"") as port:
            url = f"redlock://127.0.0.1:1,127.0.0.1:{self.redis_port},127.0.0.1:{port.number}"
            report = json.loads(tyer(url, "doctor", "--json", *NOT_FOR_LONG, code=harness.UNREACHABLE).stdout)
            self.assertEqual([c["what"].split(" (")[0] for c in report["checks"]],
                             ["nobody listens at 127.0.0.1:1", f"127.0.0.1:{port.number} accepts connections but does not answer"])

    def test_of_a_server_in_another_role_it_said_after_6_s_that_its_log_is_to_be_looked_at(self):
        here = f"127.0.0.1:{self.redis_port}"
        self.assert_told(f"redis+sentinel://{here}/shop", "is no sentinel", "begin it with redis://")
        self.assert_told(f"redis+cluster://{here}", "cluster support disabled", "begin the URL with redis://")
        with Engine("sentinel") as deployment:
            sentinels, master = deployment.url.rsplit("/", 1)
            self.assert_told("redis://" + sentinels.split("//")[1].split(",")[0], "is a sentinel", "redis+sentinel://")
            self.assert_told(f"{sentinels}/not-{master}", "No such master", "correct the name")

    def test_what_time_does_not_mend_was_waited_for_where_it_was_said_late(self):
        with Engine("sentinel") as deployment, contextlib.ExitStack() as stack:
            sentinels, master = deployment.url.rsplit("/", 1)
            ports = [int(each.rsplit(":", 1)[1]) for each in sentinels.split("//")[1].split(",")]
            slow = [harness.Slow(port, late_s=1.2) for port in ports]
            for each in slow:
                stack.callback(each.close)
            hosts = ",".join(f"127.0.0.1:{each.port}" for each in slow)
            self.assert_told(f"redis+sentinel://{hosts}/not-{master}", "No such master", "correct the name")

    def test_replicas_that_are_missing_were_told_as_a_server_whose_load_is_to_be_looked_at(self):
        with Engine("redis") as engine:
            url = engine.url + "?replicas=1"
            told = tyer(url, "doctor", code=harness.NO).stdout
            self.assertIn("INFO replication", told)
            self.assertNotIn("it had answered before", told)
            self.assertIn("INFO replication", tyer(url, "try", "order/7", "--", "true", code=harness.UNREACHABLE).stderr)

    @unittest.skipUnless(HAS_ETCD, "no etcd")
    def test_one_of_several_servers_that_time_does_not_mend_was_the_end_though_another_was_about_to_answer(self):
        with Engine("etcd") as etcd, contextlib.ExitStack() as stack:
            slow = harness.Slow(int(etcd.url.rsplit(":", 1)[1]), late_s=1.7, at_first_only=True)
            stack.callback(slow.close)
            done = tyer(f"etcd://nobody.invalid:2379,127.0.0.1:{slow.port}", "doctor", "--json", *PATIENT, code=None)
            self.assertNotEqual(done.returncode, harness.UNREACHABLE, done.stdout)
            begin = time.monotonic()
            tyer("etcd://nobody.invalid:2379,nowhere.invalid:2379", "doctor", *PATIENT, code=harness.UNREACHABLE)
            self.assertLess(time.monotonic() - begin, harness.PATIENCE_S)

    def test_it_reads_well_on_a_terminal(self):
        with Terminal(NOBODY_LISTENS, "doctor") as terminal:
            self.assertEqual(terminal.end(), harness.UNREACHABLE)
            text = terminal.text()
        self.assertRegex(text, r"^error    nobody listens at 127\.0\.0\.1:1 \(Connection refused\)\n         → start")
        self.assertIn("Not fit for locks as it is.", text)


if __name__ == "__main__":
    harness.main()
