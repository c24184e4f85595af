#!/usr/bin/python3
"""tyer exporter, with real locks on the engine that TYER_KIND names, as a scraper sees it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "contract", "prometheus"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools", "lib"))
sys.dont_write_bytecode = True

import etcd_json
import harness
import monitoring
from harness import KIND, Watching, check_schema, eventually, tyer

LINE = re.compile(r'^(\w+)(?:\{\w+="((?:[^"\\]|\\.)*)"\})? (\S+)$')


class Exporter(Watching):
    """The exporter on a free port, and its page."""

    def __init__(self, url: str, *words: str, stderr=None):
        super().__init__(url, "exporter", "--listen", "127.0.0.1:0", "--every", "100ms", *words, stderr=stderr)
        self.page_url = self.await_line("metrics at ").split()[-1]
        self.port = int(self.page_url.rsplit(":", 1)[1].split("/")[0])

    def page(self) -> str:
        with urllib.request.urlopen(self.page_url, timeout=10) as answer:
            return answer.read().decode()

    def metrics(self) -> dict[tuple[str, str], float]:
        """By name and value of the label."""
        try:
            text = self.page()
        except urllib.error.HTTPError as e:
            if e.code != 503:  # the first look is under way
                raise
            return {}
        found = {}
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            name, label, value = LINE.match(line).groups()
            found[name, label or ""] = float(value)
        return found

    def await_metric(self, name: str, right, label: str = "") -> dict[tuple[str, str], float]:
        def seen():
            all_of_them = self.metrics()
            value = all_of_them.get((name, label))
            return all_of_them if value is not None and right(value) else None
        return eventually(seen, what=f"{name}")


class Exporting(harness.OnEngine):
    def exporter(self, *words: str) -> Exporter:
        return self.stack.enter_context(Exporter(self.url, *words))

    def test_holders_and_waiters_are_counted_by_prefix(self):
        for name in ("order/1", "order/2", "report"):
            self.hold(name)
        self.wait_for("order/1", 2)
        self.wait_for("order/2", 1)
        shown = self.exporter("order/", "rep")
        seen = shown.await_metric("tyer_locks_held", lambda n: n == 2, "order/")
        self.assertEqual(seen["tyer_engine_up", ""], 1)
        self.assertEqual(seen["tyer_locks_waited_for", "order/"], 2)
        self.assertEqual(seen["tyer_locks_waiters", "order/"], 3)
        self.assertEqual(seen["tyer_locks_longest_queue", "order/"], 2)
        self.assertEqual(seen["tyer_locks_complete", "order/"], 1)
        self.assertEqual((seen["tyer_locks_held", "rep"], seen["tyer_locks_waiters", "rep"]), (1, 0))
        older = shown.await_metric("tyer_locks_oldest_hold_seconds",
                                   lambda s: s > seen["tyer_locks_oldest_hold_seconds", "order/"], "order/")
        self.assertGreater(older["tyer_locks_longest_wait_seconds", "order/"],
                           seen["tyer_locks_longest_wait_seconds", "order/"])
        self.assertNotIn("order/1", shown.page())

    @unittest.skipUnless(shutil.which("promtool"), "there is no promtool")
    def test_promtool_finds_nothing_to_blame(self):
        self.hold("order/3")
        shown = self.exporter('a "prefix" \\ of\nevil', "order/")
        shown.await_metric("tyer_locks_held", lambda n: n == 1, "order/")
        lint = subprocess.run(["promtool", "check", "metrics"], input=shown.page(), capture_output=True, text=True, timeout=60)
        self.assertEqual((lint.returncode, lint.stdout + lint.stderr), (0, ""))
        self.assertEqual(monitoring.missing(shown.page(), of_the_exporter=True), [])
        self.assertIn('{begins_with="a \\"prefix\\" \\\\ of\\nevil"} 0', shown.page())

    def test_two_labels_were_the_same(self):
        shown = self.exporter("a", "b\udcff", "b\udcfe", "a")
        shown.await_metric("tyer_engine_up", lambda n: n == 1)
        samples = [line.split()[0] for line in shown.page().splitlines() if line.startswith("tyer_locks_held")]
        self.assertEqual(samples, [f'tyer_locks_held{{begins_with="{p}"}}' for p in ("a", r"b\\xff", r"b\\xfe")])

    @unittest.skipUnless(KIND == "etcd", "etcd's own clients do not say when they asked")
    def test_a_hold_of_unknown_age_was_shown_as_new(self):
        port = int(self.engine.shown.rsplit(":", 1)[1])
        lease = etcd_json.ask(port, "lease/grant", {"TTL": 60})["ID"]
        for waiter in ("1", "2"):
            key = etcd_json.binary(f"elsewhere/{waiter}".encode())
            etcd_json.ask(port, "kv/put", {"key": key, "value": "", "lease": lease})
        shown = self.stack.enter_context(Exporter(self.url + ("&" if "?" in self.url else "?") + "protocol=go", "elsewhere", "nobody"))
        seen = shown.await_metric("tyer_locks_held", lambda n: n == 1, "elsewhere")
        self.assertEqual(seen["tyer_locks_waiters", "elsewhere"], 1)
        for name in ("tyer_locks_oldest_hold_seconds", "tyer_locks_longest_wait_seconds"):
            self.assertNotIn((name, "elsewhere"), seen)
            self.assertEqual(seen[name, "nobody"], 0)

    def test_a_listing_that_was_cut_short_says_so(self):
        for i in range(6):
            self.hold(f"many/{i}")
        if KIND == "redis":  # whose pages are of keys, whoever they belong to
            port = self.engine.shown.rsplit(":", 1)[1]
            with socket.create_connection(("127.0.0.1", int(port)), timeout=30) as s:
                s.sendall(b"EVAL \"for i = 1, 20000 do redis.call('SET', 'junk/' .. i, 1) end\" 0\r\n")
                self.assertEqual(s.recv(100), b"$-1\r\n")
        shown = self.exporter("many/", "--entries-max", "1")
        seen = shown.await_metric("tyer_locks_complete", lambda n: n == 0, "many/")
        self.assertLess(seen["tyer_locks_held", "many/"], 6)

    def test_a_lock_that_is_kept_for_a_period_is_not_held(self):
        tyer(self.url, "run", "nightly", "--once-per", "1h", "--", "true")
        shown = self.exporter("nightly")
        seen = shown.await_metric("tyer_locks_held", lambda n: n == 0, "nightly")
        self.assertEqual(seen["tyer_locks_oldest_hold_seconds", "nightly"], 0)

    def test_an_engine_that_is_away_is_shown_as_such(self):
        self.hold("order/4")
        shown = self.exporter()
        shown.await_metric("tyer_locks_held", lambda n: n >= 1)
        with self.engine.paused():
            seen = shown.await_metric("tyer_engine_up", lambda n: n == 0)
            self.assertNotIn(("tyer_locks_held", ""), seen)
            self.assertGreater(seen["tyer_exporter_looks_total", "failed"], 0)
        shown.await_metric("tyer_engine_up", lambda n: n == 1)

    def test_it_starts_where_no_engine_is(self):
        shown = self.stack.enter_context(Exporter(harness.NOBODY_LISTENS))
        shown.await_metric("tyer_engine_up", lambda n: n == 0)

    def test_a_password_is_neither_on_the_page_nor_in_what_it_says(self):
        login = self.engine.shown.replace("://", "://joe:s3cr3t@")  # whom this engine does not know
        with Exporter(login, "order/", stderr=subprocess.STDOUT) as shown:
            eventually(lambda: sum(n for (name, _), n in shown.metrics().items() if name == "tyer_exporter_looks_total"), what="a look")
            page = shown.page()
            shown.process.terminate()
            said = (shown._rest + shown.process.stdout.read()).decode()
        self.assertNotIn("s3cr3t", page + said)

    def test_a_signal_ends_it(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            shown = self.exporter()
            shown.process.send_signal(number)
            self.assertEqual(shown.process.wait(timeout=harness.PATIENCE_S), harness.OK)

    def test_where_it_listens_is_told_as_json_too(self):
        with Watching(self.url, "exporter", "--listen", "[::1]:0", "--json") as shown:
            told = harness.json.loads(shown.line())
        check_schema("exporter", told)
        self.assertRegex(told["url"], r"^http://\[::1\]:\d+/metrics$")

    def test_an_address_that_is_none_or_taken_is_refused_in_words(self):
        for wrong in ("nowhere", "127.0.0.1:", "127.0.0.1:99999", "localhost:9465", ":9465", "127.0.0.1:1x", "0:0", "127.1:0", "010.0.0.1:0", "2130706433:0"):
            with self.subTest(wrong):
                done = tyer(self.url, "exporter", "--listen", wrong, code=harness.USAGE)
                self.assertIn("127.0.0.1:9465", done.stderr)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            at = f"127.0.0.1:{taken.getsockname()[1]}"
            done = tyer(self.url, "exporter", "--listen", at, code=harness.FAILED)
        self.assertIn(f"cannot listen on {at}: Address already in use", done.stderr)

    # --- visitors that do not behave

    def visit(self, shown: Exporter, request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", shown.port), timeout=10) as s:
            s.sendall(request)
            answer = b""
            while some := s.recv(65536):
                answer += some
            return answer

    def test_what_is_not_there_is_refused(self):
        shown = self.exporter()
        shown.await_metric("tyer_engine_up", lambda n: n == 1)
        for request, status in (
            (b"GET / HTTP/1.1\r\n\r\n", b"200"),
            (b"GET /metrics?x=1 HTTP/1.1\r\n\r\n", b"200"),
            (b"HEAD /metrics HTTP/1.1\r\n\r\n", b"200"),
            (b"GET /etc/passwd HTTP/1.1\r\n\r\n", b"404"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", b"405"),
            (b"\r\n\r\n", b"405"),
            (b"GET\r\n\r\n", b"405"),
            (b"GET " + b"x" * 8300, b"431"),
            (b"GET http://127.0.0.1/metrics HTTP/1.1\r\n\r\n", b"200"),
            (b"GET /metrics HTTP/1.0\n\n", b"200"),
        ):
            with self.subTest(request=request[:40]):
                self.assertEqual(self.visit(shown, request).split(b" ")[1], status)
        self.assertEqual(self.visit(shown, b"HEAD /metrics HTTP/1.1\r\n\r\n").split(b"\r\n\r\n")[1], b"")

    def test_visitors_that_say_nothing_kept_the_others_out(self):
        shown = self.exporter()
        shown.await_metric("tyer_engine_up", lambda n: n == 1)
        silent = [self.stack.enter_context(socket.create_connection(("127.0.0.1", shown.port))) for _ in range(40)]
        self.assertIn("tyer_engine_up 1", shown.page())  # within 10 s
        silent[0].settimeout(harness.PATIENCE_S)
        self.assertEqual(silent[0].recv(1), b"", "it is shown the door")

    def test_visitors_that_say_nothing_and_come_again_kept_the_others_out_for_ever(self):
        shown = self.exporter()
        shown.await_metric("tyer_engine_up", lambda n: n == 1)
        over = threading.Event()
        self.addCleanup(over.set)
        inside = [threading.Thread(target=self.come_again, args=(shown.port, over), daemon=True) for _ in range(150)]
        for one in inside:
            one.start()
        for _ in range(3):
            with urllib.request.urlopen(shown.page_url, timeout=harness.PATIENCE_S) as answer:
                self.assertIn(b"tyer_engine_up 1", answer.read())

    def come_again(self, port: int, over: threading.Event) -> None:
        while not over.wait(0.05):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=harness.PATIENCE_S) as silent:
                silent.recv(1)

    def test_an_answer_was_lost_with_what_the_visitor_had_said_too_much(self):
        shown = self.exporter()
        body = b"POST /metrics HTTP/1.1\r\nContent-Length: 500000\r\n\r\n" + b"x" * 500_000
        for _ in range(5):
            self.assertTrue(self.visit(shown, body).startswith(b"HTTP/1.1 405 "))
            self.assertTrue(self.visit(shown, b"GET " + b"x" * 500_000).startswith(b"HTTP/1.1 431 "))


if __name__ == "__main__":
    harness.main()
