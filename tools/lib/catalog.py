"""The table of engine kinds."""

from __future__ import annotations

from cluster_kind import Cluster, ClusterValkey
from etcd_kind import Etcd, Etcd3
from instances import EngineError
from kinds import Kind
from mariadb_kind import MariaDB
from postgres_kind import Postgres
from redis_kind import Redis, Valkey
from redlock_kind import Redlock, RedlockValkey
from sentinel_kind import Sentinel, SentinelValkey

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Redis(), Valkey(), Sentinel(), SentinelValkey(), Cluster(), ClusterValkey(), Redlock(), RedlockValkey(),
        Postgres(), MariaDB(), Etcd(), Etcd3(),
    )
}

PLANNED = ("zk", "zk3", "mysql")


def find(name: str) -> Kind:
    if name in KINDS:
        return KINDS[name]
    if name in PLANNED:
        raise EngineError(f"engine kind '{name}' is planned but cannot be started yet; ready: {', '.join(KINDS)}", 2)
    raise EngineError(f"unknown engine kind '{name}'; ready: {', '.join(KINDS)}; planned: {', '.join(PLANNED)}", 2)
