"""A single Redis or Valkey server, and what its deployments have in common."""

from __future__ import annotations

import os

import clock_shift
import resp
import throwaway_tls
from instances import EngineError, Instance, Node
from kinds import Kind

ANSWER_S_MAX = 1.0


class Redis(Kind):
    name = "redis"
    about = "one Redis server"
    server = "redis-server"
    accepts = frozenset({"persist", "tls", "password", "user", "set", "clock_shift"})
    scheme = "redis"
    scheme_tls = "rediss"

    def prepare(self, instance: Instance) -> None:
        if instance.options["user"] and not instance.options["password"]:
            raise EngineError("--user needs --password", 2)
        if any(key.lower() == "requirepass" for key, _ in instance.options["set"]):
            raise EngineError("say --password PASSWORD instead of --set requirepass=…: this tool and the URI must know it", 2)
        if instance.options["tls"]:
            throwaway_tls.make(self._tls(instance))
        if instance.options["clock_shift"]:
            clock_shift.make(instance)

    def configure(self, instance: Instance, node: Node) -> None:
        os.makedirs(self.data(instance, node), exist_ok=True)
        # Once: from then on the file is the server's, who writes into it whom it follows.
        if os.path.exists(self._config(instance, node)):
            return
        with open(self._config(instance, node), "w", encoding="utf-8", opener=_private) as file:
            file.write("\n".join(self.lines(instance, node)) + "\n")

    def lines(self, instance: Instance, node: Node) -> list[str]:
        """The node's configuration."""
        return self.lines_with(instance, self.settings(instance, node), instance.options["set"])

    def lines_with(self, instance: Instance, settings: dict[str, str], asked: list) -> list[str]:
        """What was asked for comes last, and a key can be asked for twice."""
        lines = [f"{key} {value}" for key, value in settings.items() if key not in {pair[0] for pair in asked}]
        return lines + self.users(instance) + [f"{key} {value}" if value else f'{key} ""' for key, value in asked]

    def settings(self, instance: Instance, node: Node) -> dict[str, str]:
        aof = instance.options["persist"] == "aof"
        return self.listening(instance, node) | {
            "save": '""',
            "appendonly": "yes" if aof else "no",
            "appendfsync": "always" if aof else "everysec",
        }

    def listening(self, instance: Instance, node: Node) -> dict[str, str]:
        settings = {
            "bind": "127.0.0.1",
            "port": str(node.port),
            "dir": quoted(self.data(instance, node)),
            "daemonize": "no",
            "logfile": '""',
        }
        if instance.options["tls"]:
            tls = self._tls(instance)
            settings |= {
                "port": "0",
                "tls-port": str(node.port),
                "tls-cert-file": quoted(f"{tls}/server.crt"),
                "tls-key-file": quoted(f"{tls}/server.key"),
                "tls-ca-cert-file": quoted(f"{tls}/ca.crt"),
                "tls-auth-clients": "optional",
            }
        return settings

    def command(self, instance: Instance, node: Node) -> list[str]:
        return [self.program(self.server), self._config(instance, node)]

    def environment(self, instance: Instance, node: Node) -> dict[str, str]:
        return clock_shift.environment(instance, node) if instance.options["clock_shift"] else {}

    def connect(self, instance: Instance, node: Node) -> resp.Connection:
        """A connection that has logged in."""
        tls = throwaway_tls.client_context(self._tls(instance)) if instance.options["tls"] else None
        connection = resp.Connection(node.port, ANSWER_S_MAX, tls)
        try:
            if instance.options["password"]:
                connection.ask("AUTH", instance.options["user"] or "default", instance.options["password"])
            return connection
        except BaseException:
            connection.close()
            raise

    def ask(self, instance: Instance, node: Node, *words: str):
        """One question, one answer; an error of the server is an EngineError that says who said it."""
        try:
            with self.connect(instance, node) as connection:
                return connection.ask(*words)
        except resp.ReplyError as error:
            raise EngineError(f"{node.name} answered {' '.join(words[:2])} with: {error}") from None

    def answers(self, instance: Instance, node: Node) -> bool:
        try:
            with self.connect(instance, node) as connection:
                return (
                    connection.ask("PING") == "PONG"
                    and f"process_id:{node.process.pid}\r\n" in connection.ask("INFO", "server")
                )
        except resp.ReplyError:
            return False  # LOADING, or a stranger that does not know our password

    def uri(self, instance: Instance) -> str:
        return self.uri_of(instance, instance.nodes)

    def uri_of(self, instance: Instance, nodes: list[Node], path: str = "") -> str:
        from urllib.parse import quote

        options = instance.options
        login = f"{quote(options['user'] or '', '')}:{quote(options['password'], '')}@" if options["password"] else ""
        scheme, query = self.scheme, ""
        if options["tls"]:
            scheme, query = self.scheme_tls, "?ca=" + quote(f"{self._tls(instance)}/ca.crt")
        return f"{scheme}://{login}{','.join(f'127.0.0.1:{node.port}' for node in nodes)}{path}{query}"

    def users(self, instance: Instance) -> list[str]:
        """The password is given as its hash: no quoting to get wrong, nothing to read in the file."""
        password, user = instance.options["password"], instance.options["user"]
        if not password:
            return []
        import hashlib

        everything = f"on #{hashlib.sha256(password.encode()).hexdigest()} ~* &* +@all"
        if not user or user == "default":
            return [f"user default {everything}"]
        return [f"user {user} {everything}", "user default off"]

    def _tls(self, instance: Instance) -> str:
        return os.path.join(instance.folder, "tls")

    def _config(self, instance: Instance, node: Node) -> str:
        return os.path.join(instance.node_folder(node), "server.conf")


class Replicated(Redis):
    """Servers that follow each other."""

    ready_s_max = 30.0

    def settings(self, instance: Instance, node: Node) -> dict[str, str]:
        # Without the delay a first synchronisation takes five seconds longer.
        settings = super().settings(instance, node) | {"repl-diskless-sync-delay": "0"}
        if instance.options["password"]:
            settings["masteruser"] = quoted(instance.options["user"] or "default")
            settings["masterauth"] = quoted(instance.options["password"])
        if instance.options["tls"]:
            settings["tls-replication"] = "yes"
        return settings

    def not_following(self, instance: Instance, master: Node, replicas: list[Node]) -> str:
        """What is missing until these replicas get every write of the master; empty if nothing."""
        role = self.ask(instance, master, "ROLE")
        if role[0] != "master":
            return f"{master.name} is not a master yet"
        online = {int(entry[1]) for entry in role[2]}
        for node in replicas:
            role = self.ask(instance, node, "ROLE")
            if role[0] != "slave" or role[2] != master.port:
                return f"{node.name} does not follow {master.name} yet"
            if role[3] != "connected" or node.port not in online:
                return f"{node.name} is not in step with {master.name} yet"
        return ""


class Valkey(Redis):
    name = "valkey"
    about = "one Valkey server"
    server = "valkey-server"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
