#!/usr/bin/env python3
"""scraped_test.py TARGET [TYER]: a real Prometheus scrapes TARGET, and `tyer exporter`, over loopback, and is asked for what TARGET
has done, and for all that the dashboard and the alerts of docs/monitoring look at.

What TARGET exposes is also judged by promtool, which knows how metrics are named.
"""
import contextlib
import json
import math
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
import monitoring

PATIENCE_S = 60
GROUP = 'orders \\"\\\\'  # as a query spells it
ORDERS = f'group="{GROUP}"'
OURS = 'engine="the one of the test"'

# Each query, and what its one result must be.
EXPECTED = {
    f'tyer_holds{{{ORDERS},{OURS}}}': lambda n: n == 1,
    'tyer_holds{engine="its other"}': lambda n: n == 0,
    'sum(tyer_acquire_duration_seconds_count{engine="its other",outcome="acquired"})': lambda n: n == 1,
    f"tyer_waiters{{{ORDERS}}}": lambda n: n == 0,
    f'sum(tyer_acquire_duration_seconds_count{{{ORDERS},outcome="acquired"}})': lambda n: n == 4,
    f'sum(tyer_acquire_duration_seconds_count{{{ORDERS},outcome="busy"}})': lambda n: n == 1,
    f'sum(tyer_acquire_duration_seconds_count{{{ORDERS},outcome="timed_out"}})': lambda n: n == 1,
    f'sum(tyer_acquire_duration_seconds_sum{{{ORDERS},outcome="timed_out"}})': lambda n: n >= 0.5,
    f'sum(tyer_acquire_duration_seconds_bucket{{{ORDERS},outcome="timed_out",le="0.1"}})': lambda n: n == 0,
    f'sum(tyer_acquire_duration_seconds_bucket{{{ORDERS},outcome="timed_out",le="+Inf"}})': lambda n: n == 1,
    f"tyer_hold_duration_seconds_count{{{ORDERS}}}": lambda n: n == 3,
    f"sum(tyer_losses_total{{{ORDERS}}})": lambda n: n == 0,
    f'sum(tyer_acquire_duration_seconds_count{{group="",{OURS}}})': lambda n: n == 0,
    f'tyer_engine_request_duration_seconds_count{{operation="acquire",outcome="answered",{OURS}}}': lambda n: n >= 6,
    f'tyer_engine_request_duration_seconds_sum{{operation="release",outcome="answered",{OURS}}}': lambda n: n > 0,
    f"tyer_renewal_remaining_seconds_count{{{OURS}}}": lambda n: n >= 1,
    f"tyer_renewal_remaining_min_seconds{{{OURS}}}": lambda n: 0 < n < 3,
    "sum(tyer_reconnects_total) + sum(tyer_over_limit_total)": lambda n: n == 0,
}


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def ask(port: int, query: str) -> float | None:
    """The one number that the query has as its result; None if it has none yet."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        result = json.loads(fetch(url))["data"]["result"]
    except (urllib.error.URLError, ConnectionError):
        return None
    return float(result[0]["value"][1]) if len(result) == 1 else None


def all_numbers(port: int, query: str) -> list[float]:
    """Those of the whole result; where a quantile of nothing is none."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    numbers = [float(one["value"][1]) for one in json.loads(fetch(url))["data"]["result"]]
    return [n for n in numbers if not math.isnan(n)]


def alerts(port: int) -> dict[str, str]:
    """What each looks at, without the limit that raises it; or the error of one that could not be evaluated."""
    groups = json.loads(fetch(f"http://127.0.0.1:{port}/api/v1/rules"))["data"]["groups"]
    rules = {rule["name"]: rule for group in groups for rule in group["rules"]}
    return {name: rules[name].get("lastError") or re.sub(r" (>|==) [0-9.]+$", "", rules[name]["query"]) for name in monitoring.alerts()}


def without_data(port: int, of_the_exporter: bool) -> list[str]:
    """Panels and alerts that show nothing, though there is something of all that they look at."""
    asked = {query: query for query in monitoring.dashboard_queries()} | alerts(port)
    limit = time.monotonic() + PATIENCE_S
    while True:
        wrong = []
        for who, query in asked.items():
            if not of_the_exporter and monitoring.OF_THE_EXPORTER.search(query):
                continue
            try:
                if not all_numbers(port, query):
                    wrong.append(f"{who} gives nothing")
            except urllib.error.HTTPError as e:
                wrong.append(f"{who}: {e.read().decode()}")
        if not wrong or time.monotonic() > limit:
            return wrong
        time.sleep(0.2)


def judge(metrics: int) -> list[str]:
    """What promtool says of the names, and of the format; and what the dashboard would look for in vain."""
    text = fetch(f"http://127.0.0.1:{metrics}/metrics")
    lint = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    return (lint.stdout + lint.stderr).splitlines() + monitoring.missing(text, of_the_exporter=False)


def not_as_expected(server: int) -> list[str]:
    """Waits until all is as it should be."""
    limit = time.monotonic() + PATIENCE_S
    while True:
        wrong = []
        for query, right in EXPECTED.items():
            n = ask(server, query)
            if n is None or not right(n):
                wrong.append(f"{query} is {n}")
        if not wrong or time.monotonic() > limit:
            return wrong
        time.sleep(0.2)


@contextlib.contextmanager
def prometheus(folder: pathlib.Path, targets: list[int]):
    """A real one that scrapes these ports and evaluates the alerts; its own port."""
    server = free_port()
    config = folder / "prometheus.yml"
    config.write_text(json.dumps({
        "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
        "rule_files": [str(monitoring.FOLDER / "alerts.yml")],
        "scrape_configs": [{"job_name": "tyer", "static_configs": [{"targets": [f"127.0.0.1:{port}" for port in targets]}]}],
    }))
    with open(folder / "log", "w", encoding="utf-8") as log:
        process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{server}"],
            stdout=log, stderr=log)
        try:
            yield server
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def exporter(tyer: str):
    """`tyer exporter` of the same engine; its port."""
    words = [tyer, "exporter", "--listen", "127.0.0.1:0", "--every", "200ms"]
    with subprocess.Popen(words, env=os.environ | {"TYER_URL": os.environ["TYER_URI"]}, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(re.search(r":([0-9]+)/", process.stdout.readline()).group(1))
        finally:
            process.terminate()


def scrape(target: int, tyer: str | None) -> list[str]:
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        targets = [target] + ([stack.enter_context(exporter(tyer))] if tyer else [])
        server = stack.enter_context(prometheus(folder, targets))
        return not_as_expected(server) + without_data(server, tyer is not None)


def main() -> int:
    target, tyer = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    with subprocess.Popen([target], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        port = process.stdout.readline()
        if not port.strip():
            return 1
        wrong = judge(int(port)) + scrape(int(port), tyer)
        process.stdin.close()
        if process.wait(timeout=60) != 0:
            wrong.append("what was scraped ended badly")
    wrong += [f"a legend of the dashboard is {one}" for one in monitoring.legends_that_may_be_empty()]
    for line in wrong:
        print(f"scraped: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
