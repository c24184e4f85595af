"""A single Redis or Valkey server."""

from __future__ import annotations

import os

import resp
import throwaway_tls
from instances import EngineError, Instance, Node
from kinds import Kind

ANSWER_S_MAX = 1.0


class Redis(Kind):
    name = "redis"
    about = "one Redis server"
    server = "redis-server"
    accepts = frozenset({"persist", "tls", "password", "user", "set"})

    def prepare(self, instance: Instance) -> None:
        if instance.options["user"] and not instance.options["password"]:
            raise EngineError("--user needs --password", 2)
        if instance.options["tls"]:
            throwaway_tls.make(self._tls(instance))

    def configure(self, instance: Instance, node: Node) -> None:
        os.makedirs(self.data(instance, node), exist_ok=True)
        settings = self.settings(instance, node)
        for key in {pair[0] for pair in instance.options["set"]}:
            settings.pop(key, None)
        lines = [f"{key} {value}" for key, value in settings.items()]
        lines += self._users(instance)
        lines += [f"{key} {value}" if value else f'{key} ""' for key, value in instance.options["set"]]
        with open(self._config(instance, node), "w", encoding="utf-8", opener=_private) as file:
            file.write("\n".join(lines) + "\n")

    def settings(self, instance: Instance, node: Node) -> dict[str, str]:
        aof = instance.options["persist"] == "aof"
        settings = {
            "bind": "127.0.0.1",
            "port": str(node.port),
            "dir": _quoted(self.data(instance, node)),
            "daemonize": "no",
            "logfile": '""',
            "save": '""',
            "appendonly": "yes" if aof else "no",
            "appendfsync": "always" if aof else "everysec",
        }
        if instance.options["tls"]:
            tls = self._tls(instance)
            settings |= {
                "port": "0",
                "tls-port": str(node.port),
                "tls-cert-file": _quoted(f"{tls}/server.crt"),
                "tls-key-file": _quoted(f"{tls}/server.key"),
                "tls-ca-cert-file": _quoted(f"{tls}/ca.crt"),
                "tls-auth-clients": "optional",
            }
        return settings

    def command(self, instance: Instance, node: Node) -> list[str]:
        return [self.program(self.server), self._config(instance, node)]

    def answers(self, instance: Instance, node: Node) -> bool:
        tls = throwaway_tls.client_context(self._tls(instance)) if instance.options["tls"] else None
        with resp.Connection(node.port, ANSWER_S_MAX, tls) as connection:
            try:
                if instance.options["password"]:
                    connection.ask("AUTH", instance.options["user"] or "default", instance.options["password"])
                return (
                    connection.ask("PING") == "PONG"
                    and f"process_id:{node.process.pid}\r\n" in connection.ask("INFO", "server")
                )
            except resp.ReplyError:
                return False  # LOADING, or a stranger that does not know our password

    def uri(self, instance: Instance) -> str:
        from urllib.parse import quote

        options = instance.options
        login = f"{quote(options['user'] or '', '')}:{quote(options['password'], '')}@" if options["password"] else ""
        scheme, query = "redis", ""
        if options["tls"]:
            scheme, query = "rediss", "?ca=" + quote(f"{self._tls(instance)}/ca.crt")
        return f"{scheme}://{login}127.0.0.1:{instance.nodes[0].port}{query}"

    def _users(self, instance: Instance) -> list[str]:
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


class Valkey(Redis):
    name = "valkey"
    about = "one Valkey server"
    server = "valkey-server"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
