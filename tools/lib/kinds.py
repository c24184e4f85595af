"""What an engine kind must know. A new kind is one small class: subclass Kind and add it to the table in catalog.py."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator

from instances import EngineError, Instance, Node
from members import Member, by_name_or_port, by_role


class Kind:
    name = ""
    about = ""
    node_names = ["main"]
    # Every node gets a free port and those that lie this far above it; "client" is the one in the URI.
    port_offsets: dict[str, int] = {"client": 0}
    # Which of persist, tls, password, user, set and clock_shift this kind understands.
    accepts: frozenset[str] = frozenset()
    settings_have_case = False  # else --set Key=… is the server's own key=…
    ready_s_max = 15.0
    # What ends the server in good order, whoever is connected.
    stop_signal = signal.SIGTERM

    def prepare(self, instance: Instance) -> None:
        """Once per instance, before ports are known (certificates, for one)."""

    def configure(self, instance: Instance, node: Node) -> None:
        """Writes the node's files unless they are there; its folder exists. Called again before a restart."""

    def command(self, instance: Instance, node: Node) -> list[str]:
        """The server, in the foreground."""
        raise NotImplementedError

    def environment(self, instance: Instance, node: Node) -> dict[str, str]:
        """What the server finds in its environment beside our own."""
        return {}

    def answers(self, instance: Instance, node: Node) -> bool:
        """One quick try: is *this* process (not a stranger on the port) serving? OSError means not yet."""
        raise NotImplementedError

    def port_was_taken(self, log: str) -> bool:
        """Whether a server that ended at once did so because another process has its port."""
        return "address already in use" in log.lower()

    def stages(self, instance: Instance) -> Iterator[list[Node]]:
        """The nodes in the order of their first start: each list is started together, and answers when we go on here.
        What comes after the last makes one engine of them."""
        yield instance.nodes

    def unsettled(self, instance: Instance) -> str:
        """One quick look: what is still missing until all running nodes are one engine; empty if nothing.
        OSError and EngineError mean not yet."""
        return ""

    def members(self, instance: Instance) -> list[Member]:
        """Every node with the role it has now, asked from the servers."""
        return [Member(node, "server") for node in instance.nodes]

    def member(self, instance: Instance, word: str) -> Node:
        return by_name_or_port(instance, word) or by_role(instance, self.members(instance), word)

    def failover(self, instance: Instance, node: Node | None) -> Node:
        """Makes a replica master while all are well. Gives back the new master, when every running node agrees."""
        raise EngineError(f"engine kind '{self.name}' has no failover", 2)

    def migrate(self, instance: Instance, slot: int, target: Node, seconds: float) -> None:
        """Moves a slot to another master; it is between the two for at least this long."""
        raise EngineError(f"engine kind '{self.name}' has no slots", 2)

    def replace(self, instance: Instance, node: Node) -> None:
        """Makes the others ready for a new server in the place of this one, which is down, and has no data after it."""
        raise EngineError(f"engine kind '{self.name}' has no server that could be replaced", 2)

    def announce(self, instance: Instance, ports: list[int]) -> None:
        """From their next start without data on, the servers reach each other at these ports."""
        raise EngineError(f"engine kind '{self.name}' has no servers that reach each other at other ports", 2)

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


def wait_on(deadline: float, missing: str) -> None:
    """Between two looks at something that must happen before the deadline; says what did not."""
    if time.monotonic() > deadline:
        raise EngineError(missing)
    time.sleep(0.01)


def database_login(instance: Instance, user: str) -> None:
    """A database has a user and a password, asked for or not: on a shared machine the port is everybody's."""
    instance.options["user"] = instance.options["user"] or user
    instance.options["password"] = instance.options["password"] or os.urandom(8).hex()
    if any(sign in instance.options[name] for name in ("user", "password") for sign in "\n\r\0"):
        raise EngineError("a user or password must be one line", 2)


def database_uri(scheme: str, instance: Instance, database: str, authority: str = "") -> str:
    """`authority`: what the option is called that names the file of the certificates' authority."""
    from urllib.parse import quote

    login = f"{quote(instance.options['user'], '')}:{quote(instance.options['password'], '')}"
    query = f"?{authority}{quote(database_tls(instance))}/ca.crt" if instance.options.get("tls") else ""
    return f"{scheme}://{login}@127.0.0.1:{instance.nodes[0].port}/{database}{query}"


def database_tls(instance: Instance) -> str:
    return os.path.join(instance.folder, "tls")


# Of --set, and no setting of a server: nobody is let in without a certificate.
CLIENT_CERTIFICATES = ("client-cert-auth", "true")


def database_settings(instance: Instance) -> dict[str, str]:
    return dict(pair for pair in instance.options["set"] if tuple(pair) != CLIENT_CERTIFICATES)


def wants_client_certificates(instance: Instance) -> bool:
    return any(tuple(pair) == CLIENT_CERTIFICATES for pair in instance.options["set"])
