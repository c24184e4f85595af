"""A single MariaDB server. It has its own defaults of durability; --set innodb-flush-log-at-trx-commit=0 makes it quick."""

from __future__ import annotations

import os
import socket

import clock_shift
import throwaway_tls
from instances import Instance, Node
from kinds import Kind, database_login, database_settings, database_tls, database_uri, wants_client_certificates
from unprivileged import Account

ANSWER_S_MAX = 1.0
DATABASE = "tyer"
GREETING = 10  # the version of the protocol, first byte behind the packet's head


class MariaDB(Kind):
    name = "mariadb"
    about = "one MariaDB server"
    accepts = frozenset({"tls", "password", "user", "set", "clock_shift"})
    ready_s_max = 30.0

    def prepare(self, instance: Instance) -> None:
        database_login(instance, "tyer")
        self._account().let_in(instance)
        if instance.options["clock_shift"]:
            clock_shift.make(instance)
        if instance.options["tls"]:
            throwaway_tls.make(database_tls(instance))
            self._account().own_all(database_tls(instance))

    def configure(self, instance: Instance, node: Node) -> None:
        """Makes the database unless there is one (at the first start, and when its data was wiped)."""
        folder, data, account = instance.node_folder(node), self.data(instance, node), self._account()
        account.own(folder)
        first = self._first_statements(folder)
        with open(first, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(_statements(instance))
        account.own(first)
        if os.path.isdir(os.path.join(data, "mysql")):
            return
        os.makedirs(data, mode=0o700, exist_ok=True)
        account.own(data)
        self.make_data(folder, data)

    def make_data(self, folder: str, data: str) -> None:
        self._account().run(
            [self.program("mariadb-install-db"), "--no-defaults", f"--datadir={data}", f"--tmpdir={folder}",
             "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"],
            folder,
        )

    def command(self, instance: Instance, node: Node) -> list[str]:
        settings = self._settings(instance, node)
        if instance.options["tls"]:
            tls = database_tls(instance)
            settings |= {"ssl-cert": f"{tls}/server.crt", "ssl-key": f"{tls}/server.key", "ssl-ca": f"{tls}/ca.crt",
                         "require-secure-transport": "1"}  # fmt: skip
        settings |= database_settings(instance)
        words = self._server() + [f"--datadir={self.data(instance, node)}"]
        return self._account().command(words + [f"--{key}={value}" for key, value in settings.items()])

    def _server(self) -> list[str]:
        return [self.program("mariadbd"), "--no-defaults"]

    def _settings(self, instance: Instance, node: Node) -> dict[str, str]:
        folder = instance.node_folder(node)
        return {
            "bind-address": "127.0.0.1",
            "port": str(node.port),
            "socket": "sock",  # in the data folder: whole paths may be longer than a socket's name can be
            "pid-file": os.path.join(folder, "pid"),
            "init-file": self._first_statements(folder),
            "tmpdir": folder,
            "innodb-buffer-pool-size": "64M",
            "max-connections": "300",
            "skip-name-resolve": "1",
        }

    def environment(self, instance: Instance, node: Node) -> dict[str, str]:
        return clock_shift.environment(instance, node) if instance.options["clock_shift"] else {}

    def answers(self, instance: Instance, node: Node) -> bool:
        with open(os.path.join(instance.node_folder(node), "pid"), encoding="ascii") as file:
            if file.read().strip() != str(node.process.pid):
                return False
        with socket.create_connection(("127.0.0.1", node.port), timeout=ANSWER_S_MAX) as connection:
            head = connection.recv(5, socket.MSG_WAITALL)
        return len(head) == 5 and head[4] == GREETING

    def uri(self, instance: Instance) -> str:
        return database_uri("mysql", instance, DATABASE, "tls=on&ca=")

    def _account(self) -> Account:
        return Account("mysql", "nobody")

    def _first_statements(self, folder: str) -> str:
        return os.path.join(folder, "first.sql")


def _statements(instance: Instance) -> str:
    """Run at every start, before the first connection is served."""
    who, secret = f"{_text(instance.options['user'])}@'127.0.0.1'", _text(instance.options["password"])
    required = " REQUIRE X509" if wants_client_certificates(instance) else ""
    return (
        f"CREATE DATABASE IF NOT EXISTS {DATABASE};\n"
        f"CREATE USER IF NOT EXISTS {who} IDENTIFIED BY {secret}{required};\n"
        f"GRANT ALL ON *.* TO {who} WITH GRANT OPTION;\n"
    )


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
