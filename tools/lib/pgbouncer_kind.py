"""A PostgreSQL server behind PgBouncer: each transaction goes to whichever connection to the server is free."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

from instances import Instance, Node
from kinds import database_uri
from members import Member
from postgres_kind import ANSWER_S_MAX, Postgres

SERVER, POOLER = "main", "pooler"
# Of PgBouncer. The connections take turns, so that nothing that lies in one of them can be found again by accident.
SETTINGS = {
    "pool_mode": "transaction",
    "server_round_robin": "1",
    "default_pool_size": "8",
    "max_client_conn": "1000",
    "server_login_retry": "1",
}


class PgBouncer(Postgres):
    name = "pgbouncer"
    about = "one PostgreSQL server behind PgBouncer, transaction by transaction"
    node_names = [SERVER, POOLER]
    accepts = frozenset({"password", "user", "set"})

    def stages(self, instance: Instance) -> Iterator[list[Node]]:
        server, pooler = instance.nodes
        yield [server]
        yield [pooler]

    def configure(self, instance: Instance, node: Node) -> None:
        if node.name == SERVER:
            return super().configure(instance, node)
        folder, account = instance.node_folder(node), self._account()
        account.own(folder)
        user, secret = (instance.options[name].replace('"', '""') for name in ("user", "password"))
        settings = SETTINGS | {
            "listen_addr": "127.0.0.1",
            "listen_port": str(node.port),
            "unix_socket_dir": "",
            "auth_type": "scram-sha-256",
            "auth_file": os.path.join(folder, "users"),
        }
        text = f"[databases]\n* = host=127.0.0.1 port={instance.nodes[0].port}\n[pgbouncer]\n"
        text += "".join(f"{key} = {value}\n" for key, value in settings.items())
        for name, content in (("users", f'"{user}" "{secret}"\n'), ("ini", text)):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(content)
            account.own(path)

    def command(self, instance: Instance, node: Node) -> list[str]:
        if node.name == SERVER:
            return super().command(instance, node)
        return self._account().command([self.program("pgbouncer"), os.path.join(instance.node_folder(node), "ini")])

    def answers(self, instance: Instance, node: Node) -> bool:
        if node.name == SERVER:
            return super().answers(instance, node)
        socket.create_connection(("127.0.0.1", node.port), timeout=ANSWER_S_MAX).close()
        return True

    def members(self, instance: Instance) -> list[Member]:
        return [Member(node, "server" if node.name == SERVER else POOLER) for node in instance.nodes]

    def uri(self, instance: Instance) -> str:
        direct = database_uri("postgres", instance, "postgres")
        return direct.replace(f":{instance.nodes[0].port}/", f":{instance.nodes[1].port}/")
