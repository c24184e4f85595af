"""etcd: one server, or three that are one."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable

import etcd_json
import throwaway_tls
from instances import EngineError, Instance, Node
from kinds import Kind, wait_on
from members import Member, numbered

# A server is let in only when all others have been connected to each other for five seconds.
LET_IN_S_MAX = 30.0


class Etcd(Kind):
    name = "etcd"
    about = "one etcd server"
    node_names = ["node-0"]
    port_offsets = {"client": 0, "peer": 1}
    accepts = frozenset({"tls", "password", "user", "set"})
    ready_s_max = 30.0

    def prepare(self, instance: Instance) -> None:
        if instance.options["user"] and not instance.options["password"]:
            raise EngineError("--user needs --password", 2)
        if instance.options["user"] == "root":
            raise EngineError("--user root is who switches the asking for passwords on; take another name", 2)
        if instance.options["tls"]:
            throwaway_tls.make(self._tls(instance))

    def configure(self, instance: Instance, node: Node) -> None:
        os.makedirs(self.data(instance, node), mode=0o700, exist_ok=True)

    def command(self, instance: Instance, node: Node) -> list[str]:
        scheme = self._scheme(instance)
        settings = {
            "name": node.name,
            "data-dir": self.data(instance, node),
            "listen-client-urls": f"{scheme}://127.0.0.1:{node.port}",
            "advertise-client-urls": f"{scheme}://127.0.0.1:{node.port}",
            "listen-peer-urls": _peer(node),
            "initial-advertise-peer-urls": _peer(node),
            "initial-cluster": ",".join(f"{other.name}={_peer(other)}" for other in instance.nodes),
            "initial-cluster-token": instance.id,
            "heartbeat-interval": "100",
            "election-timeout": "1000",
            "log-level": "warn",
            "logger": "zap",
        }
        if instance.options["tls"]:
            tls = self._tls(instance)
            settings |= {"cert-file": f"{tls}/server.crt", "key-file": f"{tls}/server.key"}
        settings |= self._how_it_joined(instance, node)
        settings |= dict(instance.options["set"])
        if instance.options["tls"] and settings.get("client-cert-auth") == "true":
            # Not otherwise: an authority alone makes etcd refuse clients without a certificate.
            settings.setdefault("trusted-ca-file", f"{self._tls(instance)}/ca.crt")
        return [self.program("etcd"), *(f"--{key}={value}" for key, value in settings.items())]

    def answers(self, instance: Instance, node: Node) -> bool:
        """It is up to the settling to see that they are one: a single one of three has no leader to tell of."""
        return "version" in self._status(instance, node)

    def unsettled(self, instance: Instance) -> str:
        statuses = [self._status(instance, node) for node in instance.running()]
        leaders = {status.get("leader", "0") for status in statuses}
        if len(leaders) != 1 or not leaders <= {status["header"]["member_id"] for status in statuses}:
            return "the servers do not follow one leader yet"
        if instance.options["password"] and not self._asks_for_passwords(instance):
            self._ask_for_passwords(instance)
        return ""

    def members(self, instance: Instance) -> list[Member]:
        leader, followers, others = None, [], []
        for node in instance.nodes:
            try:
                status = self._status(instance, node) if node.state() == "running" else {}
            except (OSError, EngineError):
                status = {}
            if status.get("leader", "0") == "0":
                others.append(Member(node, "-"))
            elif status["leader"] == status["header"]["member_id"]:
                leader = node
            else:
                followers.append(node)
        found = ([Member(leader, "leader")] if leader else []) + numbered(followers, "follower") + others
        return sorted(found, key=lambda member: instance.nodes.index(member.node))

    def uri(self, instance: Instance) -> str:
        from urllib.parse import quote

        options, scheme, query = instance.options, "etcd", ""
        login = f"{quote(_user(instance), '')}:{quote(options['password'], '')}@" if options["password"] else ""
        if options["tls"]:
            scheme, query = "etcds", "?ca=" + quote(f"{self._tls(instance)}/ca.crt")
        return f"{scheme}://{login}{','.join(f'127.0.0.1:{node.port}' for node in instance.nodes)}{query}"

    # --- what the servers are asked, as JSON over HTTP ---

    def _status(self, instance: Instance, node: Node) -> dict:
        return self._post(instance, node, "maintenance/status", {})

    def _asks_for_passwords(self, instance: Instance) -> bool:
        return os.path.exists(self._mark(instance))

    def _ask_for_passwords(self, instance: Instance) -> None:
        """A user with rights to everything, and root, without whom etcd asks nobody. Once for all servers."""
        node, password = instance.running()[0], instance.options["password"]
        everything = {"permType": "READWRITE", "key": etcd_json.binary(b"\0"), "range_end": etcd_json.binary(b"\0")}
        for path, words in (
            ("auth/role/add", {"name": "tyer"}),
            ("auth/role/grant", {"name": "tyer", "perm": everything}),
            ("auth/role/add", {"name": "root"}),
            ("auth/user/add", {"name": _user(instance), "password": password}),
            ("auth/user/grant", {"user": _user(instance), "role": "tyer"}),
            ("auth/user/add", {"name": "root", "password": password}),
            ("auth/user/grant", {"user": "root", "role": "root"}),
            ("auth/enable", {}),
        ):
            self._post(instance, node, path, words)
        with open(self._mark(instance), "w", encoding="ascii"):
            pass

    def _post(self, instance: Instance, node: Node, path: str, words: dict, as_root: bool = False) -> dict:
        tls = throwaway_tls.client_context(self._tls(instance)) if instance.options["tls"] else None
        try:
            token, password = "", instance.options["password"]
            if as_root and password:
                login = {"name": "root", "password": password}
                token = etcd_json.ask(node.port, "auth/authenticate", login, tls=tls)["token"]
            return etcd_json.ask(node.port, path, words, tls=tls, token=token)
        except etcd_json.Refused as error:
            raise EngineError(f"{node.name} answered {path} with: {error}") from None

    def _scheme(self, instance: Instance) -> str:
        return "https" if instance.options["tls"] else "http"

    def _tls(self, instance: Instance) -> str:
        return os.path.join(instance.folder, "tls")

    def _mark(self, instance: Instance) -> str:
        return os.path.join(instance.folder, "asks-for-passwords")

    def _joined(self, instance: Instance, node: Node) -> str:
        return os.path.join(instance.node_folder(node), "joined.json")

    def _how_it_joined(self, instance: Instance, node: Node) -> dict[str, str]:
        """Nothing if it was there from the beginning, and nobody said how to reach it."""
        if not os.path.exists(self._joined(instance, node)):
            return {}
        with open(self._joined(instance, node), encoding="utf-8") as file:
            return json.load(file)

    def wipe(self, instance: Instance, node: Node) -> None:
        super().wipe(instance, node)
        if len(instance.nodes) == 1 and self._asks_for_passwords(instance):
            os.remove(self._mark(instance))


class Etcd3(Etcd):
    name = "etcd3"
    about = "three etcd servers that are one"
    node_names = [f"node-{i}" for i in range(3)]

    def replace(self, instance: Instance, node: Node) -> None:
        """The others forget it, and let it in again: under the same name and address it is a new one, that gets all data
        from them."""
        shutil.rmtree(self.data(instance, node), ignore_errors=True)
        others = [other for other in instance.running() if other is not node]
        if len(others) < 2:
            raise EngineError("a server can be replaced only while the others are a majority")
        other = others[0]
        before = {member["name"]: member for member in self._until(bool, instance, other, {})}
        old, own = before[node.name]["ID"], before[node.name]["peerURLs"]

        def gone(members: list[dict]) -> bool:
            return all(member["ID"] != old for member in members)

        def there(members: list[dict]) -> bool:
            return any(member["peerURLs"] == own for member in members)

        self._until(gone, instance, other, {"member/remove": {"ID": old}})
        self._until(there, instance, other, {"member/add": {"peerURLs": own}})
        urls = {name: member["peerURLs"][0] for name, member in before.items()}
        self._join(instance, node, urls, {"initial-cluster-state": "existing"})

    def announce(self, instance: Instance, ports: list[int]) -> None:
        if len(ports) != len(instance.nodes):
            raise EngineError(f"give {len(instance.nodes)} ports, one for each server", 2)
        urls = {node.name: f"http://127.0.0.1:{port}" for node, port in zip(instance.nodes, ports, strict=True)}
        for node in instance.nodes:
            self._join(instance, node, urls, {})

    def _join(self, instance: Instance, node: Node, urls: dict[str, str], how: dict[str, str]) -> None:
        """For its next start without data."""
        how |= {"initial-cluster": ",".join(f"{name}={url}" for name, url in urls.items())}
        with open(self._joined(instance, node), "w", encoding="utf-8") as file:
            json.dump(how | {"initial-advertise-peer-urls": urls[node.name]}, file)

    def _until(self, done: Callable[[list[dict]], object], instance: Instance, node: Node, steps: dict) -> list[dict]:
        """The members, when they are as they should be. Asks again while the servers refuse: after anything has happened
        to them, they want some quiet first."""
        deadline = time.monotonic() + LET_IN_S_MAX
        while True:
            missing = f"the servers do not agree on who is one of them: {steps}"
            try:
                members = self._post(instance, node, "cluster/member/list", {}, as_root=True)["members"]
                if done(members):
                    return members
                for path, words in steps.items():
                    self._post(instance, node, f"cluster/{path}", words, as_root=True)
            except (OSError, EngineError) as error:
                missing = str(error)
            wait_on(deadline, missing)


def _user(instance: Instance) -> str:
    return instance.options["user"] or "tyer"


def _peer(node: Node) -> str:
    return f"http://127.0.0.1:{node.ports['peer']}"
