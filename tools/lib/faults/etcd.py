"""Three etcd servers that are one, and what may happen to them alone: see ensemble.py."""

from __future__ import annotations

import base64
import contextlib
import random
import re
import time
from typing import TYPE_CHECKING

import etcd_json
from faults.children import LabError
from faults.engine import PREFIX, engines
from faults.ensemble import AT_LAST_S, QUICK_S, Ensemble
from faults.history import now_ns

if TYPE_CHECKING:
    from faults.lab import Lab
    from faults.proxy import Proxy

_PID = re.compile(rb" pid (\d+) ")
_NO_SUCH_LEASE = "requested lease not found"


class Etcd(Ensemble):
    """Servers reach each other through proxies, which know from the header of a request who speaks.

    Nothing is forgotten here, whoever leads: no two holds are excused but those whose lease an operator revoked."""

    scheme = "etcd"
    speaks = "grpc"
    unheard_s = 1.0  # twice that at the most
    pause_short = (0.2, 0.7)
    alone_s = (0.5, 3.0)

    def _lead_peers_through_proxies(self, lab: Lab) -> None:
        """Servers that have ever known each other otherwise go on so."""
        self._peers: dict[str, Proxy] = {}
        for facts in self.nodes:
            node, port = facts["name"], facts["ports"]["peer"]
            self._peers[node] = lab.make_proxy(f"{node}-peer", port, rules="", speaks="any")
        engines("announce", self.id, *(str(proxy.port) for proxy in self._peers.values()))
        engines("restart", self.id, "--lose-data")

    @contextlib.contextmanager
    def _cut_off(self, node: str, dice: random.Random):
        word = f"{int(self._id(node)):x}"
        try:
            for other, proxy in self._peers.items():
                proxy.order("cut" if other == node else f"cut {word}")
            yield
        finally:
            for proxy in self._peers.values():
                proxy.order("pass")

    # --- what the servers say ---

    def ask_json(self, node: str, path: str, words: dict, seconds: float = etcd_json.ANSWER_S_MAX) -> dict:
        try:
            return etcd_json.ask(self.ports[node], path, words, seconds)
        except etcd_json.Refused as error:
            raise LabError(f"{node} answered {path} with: {error}") from None

    def _try(self, node: str, path: str, words: dict | None = None) -> dict | None:
        """None if it does not answer, or refuses."""
        with contextlib.suppress(OSError, LabError):
            return self.ask_json(node, path, words or {}, QUICK_S)
        return None

    def _id(self, node: str) -> str:
        """Changes when a server is replaced."""
        self.until(lambda: self._try(node, "maintenance/status"), f"{node} does not answer")
        return self.ask_json(node, "maintenance/status", {})["header"]["member_id"]

    def _leader(self) -> str | None:
        told = {node: self._try(node, "maintenance/status") for node in self.ports}
        named = [status["leader"] for status in told.values() if status and status.get("leader", "0") != "0"]
        for node, status in told.items():
            if status and named.count(status["header"]["member_id"]) >= 2:
                return node
        return None

    def _era(self) -> int | None:
        told = [self._try(node, "maintenance/status") for node in self.ports]
        return max((int(status["raftTerm"]) for status in told if status and "raftTerm" in status), default=None)

    def _writes_at(self, node: str) -> bool:
        """A lease that nobody uses goes through the same log as everything."""
        return self._try(node, "lease/grant", {"TTL": 1}) is not None

    def _serves(self, node: str) -> bool:
        """A read goes through the leader and most of the servers, as every read does that a client makes."""
        return self._try(node, "kv/range", {"key": base64.b64encode(b"whatever").decode()}) is not None

    # --- what is left ---

    def leftovers(self, build: str, seconds: float) -> list[str]:
        deadline = time.monotonic() + seconds
        while True:
            keys = self._keys()
            if not keys or time.monotonic() > deadline:
                return [f"{base64.b64decode(kv['key'])!r}, lease {kv.get('lease', 'none')}" for kv in keys]
            time.sleep(0.1)

    def _keys(self) -> list[dict]:
        return self.ask_json(self._some_leader(), "kv/range", _all_under(PREFIX), 5.0).get("kvs", [])

    # --- what an operator does; quick. Gives back words for the log, or None if it could not be done just now ---

    def compact(self, dice: random.Random) -> str | None:
        """Whoever watches from an older revision is told that what he waits for may have passed."""
        node = dice.choice(sorted(self.ports))
        status = self._try(node, "maintenance/status")
        revision = status and status["header"]["revision"]
        done = revision and self._try(node, "kv/compaction", {"revision": revision})
        return f"{node}: at {revision}" if done else None

    def defrag(self, dice: random.Random) -> str | None:
        """The server stands still for it."""
        node = dice.choice(sorted(self.ports))
        return None if self._try(node, "maintenance/defragment") is None else node

    def lease_revoke(self, dice: random.Random) -> str | None:
        """All that one process has by it is gone: as by FLUSHALL, but nobody else is concerned."""
        node = dice.choice(sorted(self.ports))
        read = self._try(node, "kv/range", _all_under(PREFIX))
        found = [(kv["lease"], pid) for kv in (read or {}).get("kvs", []) if "lease" in kv and (pid := _pid_of(kv))]
        if not found:
            return None
        lease, pid = dice.choice(found)
        new_from = now_ns()
        try:
            self.ask_json(node, "lease/revoke", {"ID": lease}, QUICK_S)
            old_until = now_ns()
        except LabError as error:
            if _NO_SUCH_LEASE in str(error):
                return None  # it had just ended
            old_until = now_ns() + int(AT_LAST_S * 1e9)  # it may be done all the same
        except OSError:
            old_until = now_ns() + int(AT_LAST_S * 1e9)
        self.lost(new_from, old_until, pid=pid)
        return f"{int(lease):x} of pid {pid}"

    # --- what may happen. Each gives back when all is well again ---

    def leader_moves(self, dice: random.Random) -> None:
        """As an operator does before maintenance."""
        old, new = self._some_leader(), self._some_follower(dice)
        number = self.away_begins()
        # Refused if that one is behind, or not connected just now.
        words = {"targetID": self._id(new)}
        self.until(
            lambda: self._leader() != old or self._try(old, "maintenance/transfer-leadership", words) is not None,
            f"{old} does not let {new} lead",
        )
        self._settle()
        self.away_ends(number)

    def member_replaced(self, dice: random.Random) -> None:
        """Gone for good, whoever it was; a new one, without data, has its name and address."""
        old = dice.choice(sorted(self.ports))
        if old == self._some_leader():
            self._kill_leader(old)
        engines("replace", self.id, old)
        self._settle()


def _all_under(prefix: str) -> dict[str, str]:
    begin = prefix.encode()
    return {"key": etcd_json.binary(begin), "range_end": etcd_json.binary(begin[:-1] + bytes([begin[-1] + 1]))}


def _pid_of(kv: dict) -> int | None:
    """Whose it is says the value, for people."""
    found = _PID.search(base64.b64decode(kv.get("value", "")))
    return int(found.group(1)) if found else None
