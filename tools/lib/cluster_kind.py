"""A Redis or Valkey cluster: three masters that share the slots, and a replica for each."""

from __future__ import annotations

import time
from collections.abc import Iterator

import cluster_map
import resp
from cluster_map import SLOTS, Claim
from instances import EngineError, Instance, Node
from kinds import wait_on
from members import Member, numbered
from redis_kind import Replicated

MASTERS = 3
BUS_OFFSET = 10000
AGREE_S_MAX = 15.0
MIGRATE_MS_MAX = 5000
KEYS_AT_ONCE = 100


class Cluster(Replicated):
    name = "cluster"
    about = "a Redis cluster: three masters, a replica for each"
    scheme = "redis+cluster"
    scheme_tls = "rediss+cluster"
    node_names = [f"node-{i}" for i in range(2 * MASTERS)]
    port_offsets = {"client": 0, "bus": BUS_OFFSET}

    def settings(self, instance: Instance, node: Node) -> dict[str, str]:
        settings = super().settings(instance, node) | {
            "cluster-enabled": "yes",
            "cluster-node-timeout": "1000",
            # Beside the data, not in it: a node that loses its data still knows who it is.
            "cluster-config-file": "../nodes.conf",
        }
        if instance.options["tls"]:
            settings["tls-cluster"] = "yes"
        return settings

    def stages(self, instance: Instance) -> Iterator[list[Node]]:
        yield instance.nodes
        masters, replicas = instance.nodes[:MASTERS], instance.nodes[MASTERS:]
        for i, node in enumerate(instance.nodes):
            with self.connect(instance, node) as connection:
                # Different from the start, or the nodes would first have to settle whose word counts.
                connection.ask("CLUSTER", "SET-CONFIG-EPOCH", str(i + 1))
                if i < MASTERS:
                    first, last = SLOTS * i // MASTERS, SLOTS * (i + 1) // MASTERS - 1
                    connection.ask("CLUSTER", "ADDSLOTSRANGE", str(first), str(last))
                # Each to each: hearsay takes its time.
                for other in instance.nodes[:i]:
                    connection.ask("CLUSTER", "MEET", "127.0.0.1", str(other.port))
        deadline = time.monotonic() + self.ready_s_max
        while any(len(claims) < len(instance.nodes) for claims in self._reports(instance).values()):
            wait_on(deadline, "the nodes have not all met")
        for replica, master in zip(replicas, masters):
            self.ask(instance, replica, "CLUSTER", "REPLICATE", self.ask(instance, master, "CLUSTER", "MYID"))

    def unsettled(self, instance: Instance) -> str:
        running = instance.running()
        reports = self._reports(instance)
        if len(reports) < len(running):
            return "not every node answers"
        truth = cluster_map.merged(reports)
        owners = cluster_map.owners(truth)
        if len(owners) < SLOTS:
            return f"{SLOTS - len(owners)} slots have no master"
        by_port = {node.port: node for node in running}
        if not set(owners.values()) <= set(by_port):
            return "a master that does not run has not been replaced yet"
        for node in running:
            if cluster_map.owners(reports[node.port]) != owners:
                return f"{node.name} does not know yet who has which slot"
            if "cluster_state:ok" not in self.ask(instance, node, "CLUSTER", "INFO"):
                return f"{node.name} does not find the cluster in order yet"
        followers: dict[int, list[Node]] = {port: [] for port in owners.values()}
        for node in running:
            if node.port in followers:
                continue
            master = cluster_map.port_of(truth, truth[node.port].master_id)
            if master not in followers:
                return f"{node.name} follows no master yet"
            followers[master].append(node)
        for port, nodes in followers.items():
            if missing := self.not_following(instance, by_port[port], nodes):
                return missing
        return ""

    def members(self, instance: Instance) -> list[Member]:
        """master-N in the order of the slots, replica-N is the replica of master-N. As the nodes see it themselves;
        of one that does not run, as the others do."""
        truth = cluster_map.merged(self._reports(instance))
        owners = cluster_map.owners(truth)
        owned: dict[int, list[int]] = {}
        for slot in sorted(owners):
            owned.setdefault(owners[slot], []).append(slot)
        nodes = {node.port: node for node in instance.nodes}
        masters = [nodes[port] for port in owned]
        notes = {nodes[port].name: "slots " + cluster_map.ranges(slots) for port, slots in owned.items()}
        found = numbered(masters, "master", notes)
        spare = len(masters)
        followed = set()
        for node in instance.nodes:
            claim = truth.get(node.port)
            port = cluster_map.port_of(truth, claim.master_id) if claim and claim.master_id else None
            if port not in owned:
                continue
            number = list(owned).index(port)
            if number in followed:  # a second one
                number, spare = spare, spare + 1
            followed.add(number)
            found.append(Member(node, f"replica-{number}", f"of {nodes[port].name}"))
        known = [member.node for member in found]
        for node in instance.nodes:
            if node not in known:
                found.append(Member(node, "-", "a master without slots" if node.port in truth else ""))
        return sorted(found, key=lambda member: instance.nodes.index(member.node))

    def member(self, instance: Instance, word: str) -> Node:
        if not word.startswith("slot-"):
            return super().member(instance, word)
        return self._owner(instance, _slot(word.removeprefix("slot-")))

    def failover(self, instance: Instance, node: Node | None) -> Node:
        """Of the named master, or to the named replica."""
        node = node or self.member(instance, "master-0")
        truth = cluster_map.merged(self._reports(instance))
        claim = truth.get(node.port)
        if claim and not claim.master_id:
            of_it = {port for port, other in truth.items() if other.master_id == claim.id}
            followers = [other for other in instance.running() if other.port in of_it]
            if not followers:
                raise EngineError(f"{node.name} has no replica that runs")
            node, claim = followers[0], truth[followers[0].port]
        if claim is None:
            raise EngineError(f"no running node knows {node.name}")
        before = {slot for slot, port in cluster_map.owners(truth).items() if truth[port].id == claim.master_id}
        self.ask(instance, node, "CLUSTER", "FAILOVER")
        self._until_all_say(instance, before, node)
        return node

    def migrate(self, instance: Instance, slot: int, target: Node, seconds: float) -> None:
        slot_word = str(_slot(str(slot)))
        source = self._owner(instance, slot)
        if source is target:
            raise EngineError(f"slot {slot} is on {target.name} already", 2)
        if target not in [member.node for member in self.members(instance) if member.role.startswith("master-")]:
            raise EngineError(f"{target.name} is not a master", 2)
        source_id, target_id = (self.ask(instance, node, "CLUSTER", "MYID") for node in (source, target))
        self.ask(instance, target, "CLUSTER", "SETSLOT", slot_word, "IMPORTING", source_id)
        self.ask(instance, source, "CLUSTER", "SETSLOT", slot_word, "MIGRATING", target_id)
        time.sleep(seconds / 2)
        self._move_keys(instance, slot_word, source, target)
        time.sleep(seconds / 2)
        self._move_keys(instance, slot_word, source, target)  # a request that was under way may have written
        # The target first: if we are stopped after it, the others still learn of it from the target.
        others = [node for node in self._masters_running(instance) if node not in (source, target)]
        for node in (target, source, *others):
            self.ask(instance, node, "CLUSTER", "SETSLOT", slot_word, "NODE", target_id)
        self._until_all_say(instance, {slot}, target)

    def _move_keys(self, instance: Instance, slot: str, source: Node, target: Node) -> None:
        login = []
        if instance.options["password"]:
            login = ["AUTH2", instance.options["user"] or "default", instance.options["password"]]
        with self.connect(instance, source) as connection:
            try:
                while keys := connection.ask_bytes("CLUSTER", "GETKEYSINSLOT", slot, str(KEYS_AT_ONCE)):
                    where = ["127.0.0.1", str(target.port), "", "0", str(MIGRATE_MS_MAX)]
                    connection.ask("MIGRATE", *where, *login, "KEYS", *keys)
            except resp.ReplyError as error:
                raise EngineError(f"{source.name} could not move slot {slot}: {error}") from None

    def _until_all_say(self, instance: Instance, slots: set[int], master: Node) -> None:
        deadline = time.monotonic() + AGREE_S_MAX
        while True:
            reports = self._reports(instance).values()
            views = [cluster_map.owners(claims) for claims in reports]
            if views and all(view.get(slot) == master.port for view in views for slot in slots):
                return
            wait_on(deadline, f"not every node agrees that {master.name} is the new master")

    def _owner(self, instance: Instance, slot: int) -> Node:
        port = cluster_map.owners(cluster_map.merged(self._reports(instance))).get(slot)
        for node in instance.nodes:
            if node.port == port:
                return node
        raise EngineError(f"nobody has slot {slot} just now")

    def _masters_running(self, instance: Instance) -> list[Node]:
        masters = {member.node.name for member in self.members(instance) if member.role.startswith("master-")}
        return [node for node in instance.running() if node.name in masters]

    def _reports(self, instance: Instance) -> dict[int, dict[int, Claim]]:
        """By port, what each running node says of all nodes."""
        found = {}
        for node in instance.running():
            try:
                found[node.port] = cluster_map.parse(self.ask(instance, node, "CLUSTER", "NODES"))
            except (OSError, EngineError):
                continue  # just being killed or started
        return found


class ClusterValkey(Cluster):
    name = "cluster-valkey"
    about = "a Valkey cluster: three masters, a replica for each"
    server = "valkey-server"


def _slot(text: str) -> int:
    if not text.isdigit() or int(text) >= SLOTS:
        raise EngineError(f"'{text}' is not a slot: 0 to {SLOTS - 1}", 2)
    return int(text)
