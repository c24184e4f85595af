"""A single PostgreSQL server. It has its own defaults of durability; --set fsync=off makes it quick and forgetful."""

from __future__ import annotations

import contextlib
import glob
import os
import signal
import socket

import clock_shift
import throwaway_tls
from instances import Instance, Node
from kinds import Kind, database_login, database_settings, database_tls, database_uri, wants_client_certificates
from unprivileged import Account

ANSWER_S_MAX = 1.0
READY = "ready"  # in the last line of postmaster.pid


class Postgres(Kind):
    name = "postgres"
    about = "one PostgreSQL server"
    accepts = frozenset({"tls", "password", "user", "set", "clock_shift"})
    stop_signal = signal.SIGINT  # at SIGTERM it would wait for its clients to leave

    def prepare(self, instance: Instance) -> None:
        database_login(instance, "postgres")
        self._account().let_in(instance)
        if instance.options["clock_shift"]:
            clock_shift.make(instance)
        if instance.options["tls"]:
            throwaway_tls.make(database_tls(instance))
            self._account().own_all(database_tls(instance))

    def configure(self, instance: Instance, node: Node) -> None:
        """Makes the database unless there is one (at the first start, and when its data was wiped)."""
        data, account = self.data(instance, node), self._account()
        account.own(instance.node_folder(node))
        if os.path.exists(os.path.join(data, "PG_VERSION")):
            # A killed server's number stays in use until somebody reaps it, and a new server would take it for alive.
            with contextlib.suppress(FileNotFoundError):
                os.remove(self._pid_file(instance, node))
            return
        secret = os.path.join(instance.node_folder(node), "password")
        with open(secret, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(instance.options["password"] + "\n")
        account.own(secret)
        account.run(
            [self._program("initdb"), "-D", data, "-U", instance.options["user"], f"--pwfile={secret}",
             "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"],
            instance.node_folder(node),
        )
        if instance.options["tls"]:
            certificate = " clientcert=verify-ca" if wants_client_certificates(instance) else ""
            with open(os.path.join(data, "pg_hba.conf"), "w", encoding="utf-8") as file:
                file.write(f"hostssl all all 127.0.0.1/32 scram-sha-256{certificate}\n")

    def command(self, instance: Instance, node: Node) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(node.port),
            "unix_socket_directories": "",
            "max_connections": "300",
            "shared_buffers": "64MB",
            "dynamic_shared_memory_type": "mmap",  # in its folder: one that is killed leaves nothing in /dev/shm
            "recovery_init_sync_method": "syncfs",  # else one that was killed syncs its thousand files one by one first
        }
        if instance.options["tls"]:
            tls = database_tls(instance)
            settings |= {"ssl": "on", "ssl_cert_file": f"{tls}/server.crt", "ssl_key_file": f"{tls}/server.key",
                         "ssl_ca_file": f"{tls}/ca.crt"}  # fmt: skip
        settings |= database_settings(instance)
        words = [self._program("postgres"), "-D", self.data(instance, node)]
        for key, value in settings.items():
            words += ["-c", f"{key}={value}"]
        return self._account().command(words)

    def environment(self, instance: Instance, node: Node) -> dict[str, str]:
        return clock_shift.environment(instance, node) if instance.options["clock_shift"] else {}

    def answers(self, instance: Instance, node: Node) -> bool:
        with open(self._pid_file(instance, node), encoding="utf-8") as file:
            lines = file.read().split("\n")
        if lines[0] != str(node.process.pid) or len(lines) < 8 or lines[7].strip() != READY:
            return False
        socket.create_connection(("127.0.0.1", node.port), timeout=ANSWER_S_MAX).close()
        return True

    def uri(self, instance: Instance) -> str:
        return database_uri("postgres", instance, "postgres", "sslmode=verify-full&sslrootcert=")

    def _pid_file(self, instance: Instance, node: Node) -> str:
        return os.path.join(self.data(instance, node), "postmaster.pid")

    def _account(self) -> Account:
        return Account("postgres")

    def _program(self, name: str) -> str:
        """Debian keeps the server's programs in a folder for each major version; the newest one counts."""
        found = glob.glob(f"/usr/lib/postgresql/*/bin/{name}")
        if found:
            return max(found, key=lambda path: int(path.split("/")[4].split(".")[0]))
        return self.program(name)
