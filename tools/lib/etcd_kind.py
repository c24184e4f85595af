"""etcd: one server, or three that are one."""

from __future__ import annotations

import base64
import http.client
import json
import os

import throwaway_tls
from instances import EngineError, Instance, Node
from kinds import Kind
from members import Member, numbered

ANSWER_S_MAX = 2.0


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
        everything = {"permType": "READWRITE", "key": _binary(b"\0"), "range_end": _binary(b"\0")}
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

    def _post(self, instance: Instance, node: Node, path: str, words: dict) -> dict:
        if instance.options["tls"]:
            context = throwaway_tls.client_context(self._tls(instance))
            connection = http.client.HTTPSConnection("127.0.0.1", node.port, timeout=ANSWER_S_MAX, context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=ANSWER_S_MAX)
        try:
            connection.request("POST", f"/v3/{path}", json.dumps(words), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
            if answer.status != 200:
                raise EngineError(f"{node.name} answered {path} with: {text.strip()}")
            return json.loads(text)
        except http.client.HTTPException as error:
            raise OSError(f"{node.name} broke off: {error!r}") from None
        finally:
            connection.close()

    def _scheme(self, instance: Instance) -> str:
        return "https" if instance.options["tls"] else "http"

    def _tls(self, instance: Instance) -> str:
        return os.path.join(instance.folder, "tls")

    def _mark(self, instance: Instance) -> str:
        return os.path.join(instance.folder, "asks-for-passwords")

    def wipe(self, instance: Instance, node: Node) -> None:
        super().wipe(instance, node)
        if len(instance.nodes) == 1 and self._asks_for_passwords(instance):
            os.remove(self._mark(instance))


class Etcd3(Etcd):
    name = "etcd3"
    about = "three etcd servers that are one"
    node_names = [f"node-{i}" for i in range(3)]


def _user(instance: Instance) -> str:
    return instance.options["user"] or "tyer"


def _peer(node: Node) -> str:
    return f"http://127.0.0.1:{node.ports['peer']}"


def _binary(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
