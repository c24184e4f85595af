"""Five Redis or Valkey servers that know nothing of each other."""

from __future__ import annotations

from redis_kind import Redis


class Redlock(Redis):
    name = "redlock"
    about = "five independent Redis servers"
    scheme = "redlock"
    scheme_tls = "redlocks"
    node_names = [f"node-{i}" for i in range(5)]


class RedlockValkey(Redlock):
    name = "redlock-valkey"
    about = "five independent Valkey servers"
    server = "valkey-server"
