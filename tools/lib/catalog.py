"""The table of engine kinds."""

from __future__ import annotations

from cluster_kind import Cluster, ClusterValkey
from etcd_kind import Etcd, Etcd3
from instances import EngineError
from kinds import Kind
from mariadb_kind import MariaDB
from mysql_kind import MySQL
from pgbouncer_kind import PgBouncer
from postgres2_kind import Postgres2
from postgres_kind import Postgres
from redis_kind import Redis, Valkey
from redlock_kind import Redlock, RedlockValkey
from sentinel_kind import Sentinel, SentinelValkey
from zk_kind import Zk, Zk3, ZkSasl

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Redis(), Valkey(), Sentinel(), SentinelValkey(), Cluster(), ClusterValkey(), Redlock(), RedlockValkey(),
        Postgres(), Postgres2(), PgBouncer(), MariaDB(), MySQL(), Etcd(), Etcd3(), Zk(), Zk3(), ZkSasl(),
    )
}


def find(name: str) -> Kind:
    if name in KINDS:
        return KINDS[name]
    raise EngineError(f"unknown engine kind '{name}'; there are: {', '.join(KINDS)}", 2)
