"""A Redis or Valkey master with two replicas, and three sentinels that make one of these master when it is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator

from instances import EngineError, Instance, Node
from kinds import wait_on
from members import Member, numbered
from redis_kind import Replicated, quoted

MASTER_NAME = "mymaster"
SERVERS = 3
SENTINELS = 3
FAILOVER_S_MAX = 15.0
# Of the sentinels, not of the servers. A failover that found no majority is tried again after twice its timeout.
SENTINEL_SETTINGS = {
    "quorum": "2",
    "down-after-milliseconds": "500",
    "failover-timeout": "2000",
    "parallel-syncs": "2",
}
AS_IT_COMES = "default"  # as a value: what the server has if nobody says anything
CLIENTS = "tls-auth-clients"  # of both


class Sentinel(Replicated):
    name = "sentinel"
    about = "a Redis master, two replicas and three sentinels"
    scheme = "redis+sentinel"
    scheme_tls = "rediss+sentinel"
    node_names = [f"node-{i}" for i in range(SERVERS)] + [f"sentinel-{i}" for i in range(SENTINELS)]

    # A master that comes back is made a replica ten seconds later, when the sentinels ask it for the second time.
    ready_s_max = 40.0

    def prepare(self, instance: Instance) -> None:
        for name in ("user", "password"):
            if any(sign in " \t\"'" for sign in instance.options[name] or ""):
                raise EngineError(f"a {name} with spaces or quotes: sentinels save it so that they cannot read it", 2)
        super().prepare(instance)

    def lines(self, instance: Instance, node: Node) -> list[str]:
        if _is_sentinel(node):
            return self._sentinel_lines(instance, node)
        for_servers = [pair for pair in instance.options["set"] if pair[0] not in SENTINEL_SETTINGS]
        return self.lines_with(instance, self.settings(instance, node), for_servers)

    def _sentinel_lines(self, instance: Instance, node: Node) -> list[str]:
        asked = {key: value for key, value in instance.options["set"] if key in SENTINEL_SETTINGS}
        settings = SENTINEL_SETTINGS | asked
        quorum = settings.pop("quorum")
        listening = self.listening(instance, node)
        if instance.options["tls"]:
            listening["tls-replication"] = "yes"  # for a sentinel: its connections to all others
            listening |= {key: value for key, value in instance.options["set"] if key == CLIENTS}
        lines = [f"{key} {value}" for key, value in listening.items()] + self.users(instance)
        master, *replicas = _servers(instance)
        lines.append(f"sentinel myid {_sentinel_id(instance, node)}")
        lines.append(f"sentinel monitor {MASTER_NAME} 127.0.0.1 {master.port} {quorum}")
        lines += [f"sentinel {key} {MASTER_NAME} {value}" for key, value in settings.items() if value != AS_IT_COMES]
        if instance.options["password"]:
            user, password = quoted(instance.options["user"] or "default"), quoted(instance.options["password"])
            lines += [f"sentinel auth-user {MASTER_NAME} {user}", f"sentinel auth-pass {MASTER_NAME} {password}"]
            lines += [f"sentinel sentinel-user {user}", f"sentinel sentinel-pass {password}"]
        # What a sentinel would write here by itself once it has heard of the others, which takes seconds.
        lines += [f"sentinel known-replica {MASTER_NAME} 127.0.0.1 {other.port}" for other in replicas]
        lines += [
            f"sentinel known-sentinel {MASTER_NAME} 127.0.0.1 {other.port} {_sentinel_id(instance, other)}"
            for other in _sentinels(instance)
            if other is not node
        ]
        return lines

    def command(self, instance: Instance, node: Node) -> list[str]:
        return super().command(instance, node) + (["--sentinel"] if _is_sentinel(node) else [])

    def stages(self, instance: Instance) -> Iterator[list[Node]]:
        """A server that finds its master, or a sentinel that finds its servers, not there waits for a second."""
        master, *replicas = _servers(instance)
        yield [master, *replicas]
        for node in replicas:
            self.ask(instance, node, "REPLICAOF", "127.0.0.1", str(master.port))
            self.ask(instance, node, "CONFIG", "REWRITE")  # as a sentinel does, for the next start
        deadline = time.monotonic() + self.ready_s_max
        while missing := self.not_following(instance, master, replicas):
            wait_on(deadline, missing)
        yield _sentinels(instance)

    def unsettled(self, instance: Instance) -> str:
        running = instance.running()
        sentinels = [node for node in running if _is_sentinel(node)]
        views = {node.name: self._master_seen_by(instance, node) for node in sentinels}
        ports = {int(view["port"]) for view in views.values()}
        if len(ports) != 1:
            return f"the sentinels name {len(ports)} masters"
        master = next((node for node in running if node.port in ports), None)
        if master is None:
            return "the sentinels have not replaced their master yet"
        replicas = [node for node in running if not _is_sentinel(node) and node is not master]
        if missing := self.not_following(instance, master, replicas):
            return missing
        for node in sentinels:
            if views[node.name]["flags"] != "master":
                return f"{node.name} says of the master: {views[node.name]['flags']}"
            seen = self._well(instance, node, "SENTINELS", "sentinel")
            if not {other.port for other in sentinels if other is not node} <= seen:
                return f"{node.name} does not see all sentinels yet"
            if not {other.port for other in replicas} <= self._well(instance, node, "REPLICAS", "slave"):
                return f"{node.name} does not see all replicas yet"
            self.ask(instance, node, "SENTINEL", "CKQUORUM", MASTER_NAME)
        return ""

    def members(self, instance: Instance) -> list[Member]:
        """The master is whom the sentinels name: one that comes back takes itself for the master for a while."""
        master = self._master(instance)
        replicas, others = [], []
        for node in _servers(instance):
            if node is master:
                continue
            role = self._own_role(instance, node)
            if role == "slave":
                replicas.append(node)
            else:
                others.append(Member(node, "-", "a master for nobody" if role == "master" else ""))
        found = [Member(master, "master")] if master else []
        found += numbered(replicas, "replica") + others
        found += [Member(node, node.name) for node in _sentinels(instance)]
        return sorted(found, key=lambda member: instance.nodes.index(member.node))

    def failover(self, instance: Instance, node: Node | None) -> Node:
        if node is not None:
            raise EngineError("the sentinels choose the new master by themselves", 2)
        sentinels = [node for node in instance.running() if _is_sentinel(node)]
        if not sentinels:
            raise EngineError(f"no sentinel of {instance.id} is running")
        before = self._master(instance)
        self.ask(instance, sentinels[0], "SENTINEL", "FAILOVER", MASTER_NAME)
        deadline = time.monotonic() + FAILOVER_S_MAX
        while True:
            ports = {self._master_named_by(instance, sentinel) for sentinel in sentinels}
            named = next((node for node in instance.nodes if ports == {node.port}), None)
            if named and named is not before and self._own_role(instance, named) == "master":
                return named
            wait_on(deadline, "the sentinels have not agreed on a new master")

    def uri(self, instance: Instance) -> str:
        """With the login of the sentinels, which is that of the servers."""
        from urllib.parse import quote

        options = instance.options
        login = {"sentinel_user": options["user"], "sentinel_password": options["password"]} if options["password"] else {}
        uri = self.uri_of(instance, _sentinels(instance), f"/{MASTER_NAME}")
        for key, value in login.items():
            if value:
                uri += ("&" if "?" in uri else "?") + f"{key}={quote(value, '')}"
        return uri

    def _master(self, instance: Instance) -> Node | None:
        """As the sentinels with the latest news name it; without sentinels, who says so himself."""
        named = []
        for node in instance.running():
            if _is_sentinel(node):
                try:
                    epoch = int(self._master_seen_by(instance, node)["config-epoch"])
                    named.append((epoch, self._master_named_by(instance, node)))
                except (OSError, EngineError):
                    continue  # just being killed or started
        if named:
            port = max(named)[1]
            return next((node for node in _servers(instance) if node.port == port), None)
        return next((node for node in _servers(instance) if self._own_role(instance, node) == "master"), None)

    def _own_role(self, instance: Instance, node: Node) -> str:
        try:
            return self.ask(instance, node, "ROLE")[0] if node.state() == "running" else ""
        except (OSError, EngineError):
            return ""

    def _master_seen_by(self, instance: Instance, node: Node) -> dict[str, str]:
        return _fields(self.ask(instance, node, "SENTINEL", "MASTER", MASTER_NAME))

    def _master_named_by(self, instance: Instance, node: Node) -> int:
        """Its port. While a sentinel leads a failover, SENTINEL MASTER gives the new epoch with the old address."""
        return int(self.ask(instance, node, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME)[1])

    def _well(self, instance: Instance, node: Node, what: str, flag: str) -> set[int]:
        """The ports of those that a sentinel finds in good health, and has asked at least once."""
        entries = [_fields(entry) for entry in self.ask(instance, node, "SENTINEL", what, MASTER_NAME)]
        return {
            int(entry["port"])
            for entry in entries
            # master_down is what that sentinel said of the last master. The age of news that never came is
            # counted from 1970.
            if set(entry["flags"].split(",")) - {"master_down"} == {flag}
            and int(entry.get("info-refresh", "0")) < 1e9
        }


class SentinelValkey(Sentinel):
    name = "sentinel-valkey"
    about = "a Valkey master, two replicas and three sentinels"
    server = "valkey-server"


def _is_sentinel(node: Node) -> bool:
    return node.name.startswith("sentinel-")


def _servers(instance: Instance) -> list[Node]:
    return [node for node in instance.nodes if not _is_sentinel(node)]


def _sentinels(instance: Instance) -> list[Node]:
    return [node for node in instance.nodes if _is_sentinel(node)]


def _sentinel_id(instance: Instance, node: Node) -> str:
    import hashlib

    return hashlib.sha1(f"{instance.id}/{node.name}".encode()).hexdigest()


def _fields(reply: list[str]) -> dict[str, str]:
    return dict(zip(reply[::2], reply[1::2]))
