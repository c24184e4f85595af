"""What the tests of the command line stand on: the real binary, real engines, a terminal, and programs that hold locks.

Started by ctest with TYER (the binary), TYER_HOLDER (tests/cli/holder.cpp) and TYER_SCHEMAS (docs/schemas).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Callable, Iterator

import jsonschema
import pexpect
import pyte

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
TYER = os.environ.get("TYER", os.path.join(ROOT, "build", "release", "cli", "tyer"))
HOLDER = os.environ.get("TYER_HOLDER", os.path.join(ROOT, "build", "release", "tests", "cli", "cli_holder"))
KIND = os.environ.get("TYER_KIND", "redis")
SCHEMAS = os.environ.get("TYER_SCHEMAS", os.path.join(ROOT, "docs", "schemas"))

PATIENCE_S = 30.0  # far longer than anything takes; only a failure waits for it

# As cli/base/exit_code.hpp has them.
OK, NO = 0, 1
USAGE, UNREACHABLE, REFUSED, LOST, NOT_ACQUIRED, FAILED = 120, 121, 122, 123, 124, 125

NOBODY_LISTENS = "redis://127.0.0.1:1"
DATABASES = ("postgres", "mariadb", "mysql")  # whose tables have to be made


_numbers = itertools.count(1)


def fresh_name() -> str:
    """A lock that no other test has had; short, so that what is said of it fits a line."""
    return f"deploy/{next(_numbers)}"


def eventually(happened: Callable[[], object], within: float = PATIENCE_S, what: str = "it"):
    """What `happened` gives, once that is something."""
    limit = time.monotonic() + within
    while True:
        result = happened()
        if result:
            return result
        if time.monotonic() > limit:
            raise AssertionError(f"{what} did not happen within {within:g} s")
        time.sleep(0.02)


class Engine:
    """A server of `tools/engines`, for as long as the object is used with `with`."""

    def __init__(self, kind: str, *options: str):
        self.kind, self._options = kind, options

    def __enter__(self) -> Engine:
        self._uri = _engines("up", self.kind, *self._options)
        self.url = self._uri + ("?schema=apply" if self.kind in DATABASES else "")
        return self

    def __exit__(self, *_) -> None:
        _engines("down", self._uri)

    @property
    def shown(self) -> str:
        """As it is shown: without a login or options."""
        scheme, rest = self._uri.split("://")
        return f"{scheme}://{rest.split('?')[0].split('@')[-1]}"

    @contextlib.contextmanager
    def paused(self):
        self.do("pause")
        try:
            yield
        finally:
            self.do("resume")

    def do(self, verb: str, *words: str) -> str:
        """kill, pause, resume, restart …"""
        return _engines(verb, self._uri, *words)


def _engines(*words: str) -> str:
    done = subprocess.run(
        [os.path.join(ROOT, "tools", "engines"), *words], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"engines {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def environment(url: str | None, **more: str) -> dict[str, str]:
    """Nothing of the person who runs the tests reaches them."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TYER_") and k not in ("NO_COLOR", "XDG_CONFIG_HOME")}
    clean |= {"HOME": "/nonexistent", "TYER_SYSTEM_CONFIG": "/nonexistent", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PATH": _path()}
    if url is not None:
        clean["TYER_URL"] = url
    return clean | more


def _path() -> str:
    return os.path.dirname(TYER) + ":" + os.environ["PATH"]


def tyer(url: str | None, *words: str, code: int | None = 0, stdin: str = "", env: dict[str, str] | None = None):
    """Runs it with pipes; gives the finished process, whose code has been looked at unless it is None."""
    done = subprocess.run(
        [TYER, *words], input=stdin, capture_output=True, text=True, timeout=120, check=False,
        env=environment(url) | (env or {}),
    )
    if code is not None and done.returncode != code:
        raise AssertionError(f"tyer {' '.join(words)} gave {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done


def check_schema(name: str, value: object) -> None:
    with open(os.path.join(SCHEMAS, f"{name}.json"), encoding="utf-8") as file:
        schema = json.load(file)
    resolver = jsonschema.RefResolver(base_uri=f"file://{SCHEMAS}/", referrer=schema)
    jsonschema.Draft202012Validator(schema, resolver=resolver).validate(value)


def tyer_json(url: str | None, *words: str, schema: str | None = None, code: int | None = 0):
    """What --json prints, which is as its schema says."""
    done = tyer(url, *words, "--json", code=code)
    value = json.loads(done.stdout)
    check_schema(schema or words[0], value)
    return value


class Slow:
    """Between a client and a server: each answer comes, but late; or the first on each connection."""

    def __init__(self, port: int, late_s: float, at_first_only: bool = False):
        self._to, self._late_s, self._at_first_only = port, late_s, at_first_only
        self._listens = socket.create_server(("127.0.0.1", 0))
        self.port = self._listens.getsockname()[1]
        self.answers = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listens.accept()
                there = socket.create_connection(("127.0.0.1", self._to))
                threading.Thread(target=self._pass_on, args=(here, there, 0), daemon=True).start()
                threading.Thread(target=self._pass_on, args=(there, here, self._late_s), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket, late_s: float) -> None:
        with contextlib.suppress(OSError), one:
            while some := one.recv(1 << 20):
                if late_s > 0:
                    time.sleep(late_s)
                    late_s = 0 if self._at_first_only else late_s
                    self.answers += 1
                other.sendall(some)
            other.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listens.close()


class Patience:
    """How long somebody waits for a lock whose engine is to fall silent meanwhile. On a slow machine his time may be over before
    that: then another has more of it. So a test asks one after the other, until the silence came early enough to be noticed.

        for patience in Patience.longer_and_longer():
            somebody.waits(patience.seconds)
            with engine.paused():
                if patience.is_worn():
                    continue
    """

    @staticmethod
    def longer_and_longer() -> Iterator[Patience]:
        for seconds in (8, 16, 32, 64):
            yield Patience(seconds)
        raise AssertionError("no engine fell silent in the first third of a minute's wait")

    def __init__(self, seconds: int):
        self.seconds, self._begin = seconds, time.monotonic()

    def is_worn(self) -> bool:
        """Whether so much of the time is over that the silence may not be noticed in the rest."""
        return time.monotonic() - self._begin > self.seconds / 3


class Terminal:
    """The binary on a terminal of 80 columns, and what a person sees there."""

    def __init__(self, url: str | None, *words: str, columns: int = 80, lines: int = 24, program: str = TYER, env=None):
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self.child = pexpect.spawn(
            program, list(words), env=environment(url) | (env or {}), dimensions=(lines, columns), timeout=PATIENCE_S
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_) -> None:
        self.child.close(force=True)

    def lines(self) -> list[str]:
        """The screen as it is now."""
        try:
            while not self.child.closed:
                some = self.child.read_nonblocking(65536, timeout=0.02)
                self.raw += some
                self._stream.feed(some)
        except (pexpect.TIMEOUT, pexpect.EOF):
            pass
        return [line.rstrip() for line in self._screen.display]

    def text(self) -> str:
        return "\n".join(self.lines()).rstrip()

    def await_text(self, text: str, within: float = PATIENCE_S) -> str:
        return eventually(lambda: self.text() if text in self.text() else None, within, f"{text!r} on the screen")

    def type(self, text: str) -> None:
        self.child.send(text)

    def has_ended(self) -> bool:
        self.lines()
        return not self.child.isalive()

    def end(self, within: float = PATIENCE_S) -> int:
        """The code, once it has ended by itself."""
        eventually(self.has_ended, within, "the end")
        self.lines()
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else 128 + self.child.signalstatus


class Lines:
    """A process whose lines can be waited for."""

    def __init__(self, words: list[str], env: dict[str, str], stderr=None):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=env)
        self._rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def line(self, within: float = PATIENCE_S) -> str:
        limit = time.monotonic() + within
        while b"\n" not in self._rest:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise AssertionError("no line came")
            some = os.read(self.process.stdout.fileno(), 65536)
            if not some:
                raise AssertionError(f"it ended; the last words were {self._rest!r}")
            self._rest += some
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode()

    def await_line(self, begin: str, within: float = PATIENCE_S) -> str:
        while True:
            line = self.line(within)
            if line.startswith(begin):
                return line


class Holder(Lines):
    """Somebody else's program that holds a lock, or waits for one."""

    def __init__(self, url: str, name: str, kind: str = "mutex", ttl_ms: int = 10000, polite: bool = False, note: str = ""):
        words = [HOLDER, url, name, kind, str(ttl_ms), "polite" if polite else "deaf", *([note] if note else [])]
        super().__init__(words, environment(None))

    def held(self) -> Holder:
        _, self.token, self.id = self.await_line("held").split()
        return self

    def give_back(self) -> None:
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.await_line("released")


class Watching(Lines):
    """The binary in a pipe, as it goes on."""

    def __init__(self, url: str, *words: str, stderr=None):
        super().__init__([TYER, *words], environment(url), stderr)


class OnEngine(unittest.TestCase):
    """Tests that share one engine, of the kind that TYER_KIND names. What enters self.stack ends with its test."""

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.engine = stack.enter_context(Engine(KIND))
        cls.url = cls.engine.url

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def hold(self, name: str, *words, **options) -> Holder:
        return self.stack.enter_context(Holder(self.url, name, *words, **options)).held()

    def wait_for(self, name: str, count: int = 1) -> list[Holder]:
        """Somebody waits for the name, and the engine knows it."""
        waiters = []
        for i in range(count):
            waiters.append(self.stack.enter_context(Holder(self.url, name)))
            eventually(lambda n=i + 1: tyer_json(self.url, "show", name)["waiting"] == n, what="a waiter")
        return waiters


def main() -> None:
    """Where tests begin: the rest of the command line is unittest's."""
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
