"""What an engine kind must know. A new kind is one small class: subclass Kind and add it to the table in catalog.py."""

from __future__ import annotations

import os
import shutil
import signal

from instances import EngineError, Instance, Node


class Kind:
    name = ""
    about = ""
    node_names = ["main"]
    # One port per role is found for every node; "client" is the one in the URI.
    port_roles: tuple[str, ...] = ("client",)
    # Which of persist, tls, password, user and set this kind understands.
    accepts: frozenset[str] = frozenset()
    ready_s_max = 15.0
    # What ends the server in good order, whoever is connected.
    stop_signal = signal.SIGTERM

    def prepare(self, instance: Instance) -> None:
        """Once per instance, before ports are known (certificates, for one)."""

    def configure(self, instance: Instance, node: Node) -> None:
        """Writes the node's files; its folder exists. Called again before a restart."""

    def command(self, instance: Instance, node: Node) -> list[str]:
        """The server, in the foreground."""
        raise NotImplementedError

    def answers(self, instance: Instance, node: Node) -> bool:
        """One quick try: is *this* process (not a stranger on the port) serving? OSError means not yet."""
        raise NotImplementedError

    def port_was_taken(self, log: str) -> bool:
        """Whether a server that ended at once did so because another process has its port."""
        return "address already in use" in log.lower()

    def assemble(self, instance: Instance) -> None:
        """When all nodes answer: make one engine of them (form the cluster, wait for a leader)."""

    def uri(self, instance: Instance) -> str:
        raise NotImplementedError

    def wipe(self, instance: Instance, node: Node) -> None:
        """Forgets the node's data, keeps its configuration."""
        shutil.rmtree(self.data(instance, node), ignore_errors=True)

    def data(self, instance: Instance, node: Node) -> str:
        return os.path.join(instance.node_folder(node), "data")

    def program(self, name: str) -> str:
        path = shutil.which(name)
        if path is None:
            raise EngineError(f"{name} is not installed (run tools/setup)")
        return path


def database_login(instance: Instance, user: str) -> None:
    """A database has a user and a password, asked for or not: on a shared machine the port is everybody's."""
    instance.options["user"] = instance.options["user"] or user
    instance.options["password"] = instance.options["password"] or os.urandom(8).hex()
    if any(sign in instance.options[name] for name in ("user", "password") for sign in "\n\r\0"):
        raise EngineError("a user or password must be one line", 2)


def database_uri(scheme: str, instance: Instance, database: str) -> str:
    from urllib.parse import quote

    login = f"{quote(instance.options['user'], '')}:{quote(instance.options['password'], '')}"
    return f"{scheme}://{login}@127.0.0.1:{instance.nodes[0].port}/{database}"
