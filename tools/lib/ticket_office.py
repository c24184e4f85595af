"""The ticket office: several processes behind nginx, bought from by many at once, with kills and pauses."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "examples/ticket_office/page.html"
PICTURE = ROOT / "docs/pictures/ticket_office.png"
OFFICES, BUYERS = 3, 12
PAUSE_S = 4.5  # longer than the lock's ttl
SALE_S_MAX = 240.0
OPEN_S_MAX = 60.0
CONFIG = """
daemon off; master_process off; pid nginx.pid; error_log error.log;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream offices {{ {servers} keepalive 32; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://offices; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_read_timeout 20s; }}
  }}
}}
"""


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Street:
    """The offices and the nginx before them."""

    def __init__(self, program: pathlib.Path, engine: str, database: str):
        self.program, self.engine, self.database = program, engine, database
        self.ports = [free_port() for _ in range(OFFICES)]
        self.port = free_port()
        self.offices: dict[int, subprocess.Popen] = {}
        self.nginx: subprocess.Popen | None = None

    def __enter__(self) -> Street:
        self.folder = tempfile.mkdtemp(prefix="tyer-office-")
        servers = " ".join(f"server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;" for port in self.ports)
        with open(os.path.join(self.folder, "nginx.conf"), "w", encoding="ascii") as file:
            file.write(CONFIG.format(servers=servers, port=self.port))
        nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if nginx is None:
            raise SystemExit("ticket office: nginx is not installed (run tools/setup)")
        try:
            for port in self.ports:
                self.open(port)
            self.nginx = subprocess.Popen([nginx, "-p", self.folder, "-c", "nginx.conf", "-e", "error.log"])
            self.wait_open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for process in filter(None, (self.nginx, *self.offices.values())):
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, port: int) -> None:
        self.offices[port] = subprocess.Popen([self.program, "serve", str(port), self.engine, self.database, PAGE])

    def wait_open(self) -> dict:
        deadline = time.monotonic() + OPEN_S_MAX
        while not (state := self.state()):
            if time.monotonic() > deadline:
                raise SystemExit("ticket office: it does not open")
            time.sleep(0.1)
        return state

    def ask(self, method: str, path: str) -> tuple[int, str]:
        """Status 0: no answer."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as link:
            try:
                link.request(method, path)
                answer = link.getresponse()
                return answer.status, answer.read().decode()
            except (OSError, http.client.HTTPException):
                return 0, ""

    def state(self) -> dict:
        """Empty: an office has just ended, or waits for the engine."""
        status, text = self.ask("GET", "/state")
        return json.loads(text) if status == 200 else {}

    def selling(self) -> int | None:
        """The port of the office that has the lock."""
        pids = {office.pid: port for port, office in self.offices.items()}
        return next((pids[h["pid"]] for h in self.state().get("holders", []) if h["pid"] in pids), None)

    def wait_sold(self, tickets: int, deadline: float) -> None:
        while self.state().get("sold", 0) < tickets:
            if time.monotonic() > deadline:
                raise SystemExit(f"ticket office: {tickets} tickets were not sold in time")
            time.sleep(0.05)


def sell_out(program: pathlib.Path, engine: str, database: str, tickets: int, kills: int, while_open=None) -> dict:
    """Sells all there is; gives what was counted. `while_open` is called with the street before the last of the kills."""
    subprocess.run([program, "open", database, str(tickets)], check=True)
    with Street(program, engine, database) as street:
        over = threading.Event()
        heard: dict[int, int] = {}
        guard = threading.Lock()

        def buy() -> None:
            while not over.is_set():
                status, _ = street.ask("POST", "/buy")
                with guard:
                    heard[status] = heard.get(status, 0) + 1
                if status == 410:
                    return
                if status != 200:
                    time.sleep(0.05)

        begun = time.monotonic()
        buyers = [threading.Thread(target=buy, daemon=True) for _ in range(BUYERS)]
        for buyer in buyers:
            buyer.start()
        _disturb(street, tickets, kills, begun + SALE_S_MAX, while_open)
        for buyer in buyers:
            buyer.join(max(0.1, begun + SALE_S_MAX - time.monotonic()))
        over.set()
        seconds = time.monotonic() - begun
        end = street.wait_open()
    return {"sold": end["sold"], "oversold": max(0, end["sold"] + end["left"] - tickets), "left": end["left"],
            "refused": end["refused"], "seconds": round(seconds, 1), "kills": kills}


def take_picture(street: Street, file: pathlib.Path = PICTURE, size: str = "1000,400") -> None:
    """Of the page, while it sells."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("  no Chromium: the picture stays as it is", flush=True)
        return
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                        "--virtual-time-budget=3000", f"--window-size={size}", f"--screenshot={file}",
                        f"http://127.0.0.1:{street.port}/"], check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _disturb(street: Street, tickets: int, kills: int, deadline: float, while_open) -> None:
    """Kills an office after each share of the tickets, and opens it again; every other time one is paused instead. If it can
    be seen which one is selling, then that one."""
    for n in range(1, kills + 1):
        street.wait_sold(tickets * n // (kills + 2), deadline)
        if n == kills and while_open:
            while_open(street)
        port = street.selling() or random.choice(street.ports)
        if n % 2 == 0:
            _pause(street.offices[port])
            continue
        street.offices[port].kill()
        street.offices[port].wait()
        street.open(port)


def _pause(office: subprocess.Popen) -> None:
    office.send_signal(signal.SIGSTOP)
    time.sleep(PAUSE_S)
    office.send_signal(signal.SIGCONT)
