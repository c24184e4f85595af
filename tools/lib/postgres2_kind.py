"""A PostgreSQL primary and a standby that follows it, and can take its place.

--set synchronous_standby_names=* makes the primary wait for the standby. It is set when both run, and whoever is promoted does not have
it: nobody follows then."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from urllib.parse import quote

from faults.psql import Psql
from instances import EngineError, Instance, Node
from kinds import wait_on
from members import Member
from postgres_kind import Postgres

SYNCHRONOUS = "synchronous_standby_names"
ANSWER_S_MAX = 5.0
PROMOTION_S_MAX = 20.0
STANDBY = "standby.signal"


class Postgres2(Postgres):
    name = "postgres2"
    about = "a PostgreSQL primary and a standby"
    node_names = ["node-0", "node-1"]
    accepts = frozenset({"password", "user", "set"})
    ready_s_max = 40.0

    def stages(self, instance: Instance) -> Iterator[list[Node]]:
        for node in instance.nodes:
            yield [node]
        if names := self._synchronous(instance):
            primary = self._primary(instance)
            self._ask(instance, primary, f"ALTER SYSTEM SET {SYNCHRONOUS} = '{names}'")
            self._ask(instance, primary, "SELECT pg_reload_conf()")

    def configure(self, instance: Instance, node: Node) -> None:
        """Whoever is not the primary, and does not follow it yet, gets a copy of its data."""
        primary = self._primary(instance)
        if node is primary or os.path.exists(os.path.join(self.data(instance, node), STANDBY)):
            return super().configure(instance, node)
        self._account().own(instance.node_folder(node))
        self.wipe(instance, node)
        if primary.state() == "dead":
            shutil.copytree(self.data(instance, primary), self.data(instance, node), copy_function=self._copy)
        else:
            self._copy_running(instance, primary, node)
        self._follow(instance, primary, node)

    def unsettled(self, instance: Instance) -> str:
        running = instance.running()
        primary = self._primary(instance)
        if primary not in running:
            return "the standby has not been promoted"
        if self._ask(instance, primary, "SELECT pg_is_in_recovery()") != ["f"]:
            return "the primary is not one yet"
        states = self._ask(instance, primary, "SELECT state || ' ' || sync_state FROM pg_stat_replication")
        wanted = ("streaming sync", "streaming quorum") if self._waits(instance, primary) else ("streaming async",)
        return "" if len(running) == 1 or any(state in wanted for state in states) else "the standby does not follow yet"

    def members(self, instance: Instance) -> list[Member]:
        primary = self._primary(instance)
        return [Member(node, "primary" if node is primary else "standby") for node in instance.nodes]

    def failover(self, instance: Instance, node: Node | None) -> Node:
        """As after a crash of the primary's machine: that ends at once, and comes back as a standby if it is started again."""
        primary = self._primary(instance)
        node = node or next(other for other in instance.nodes if other is not primary)
        if node is primary:
            raise EngineError(f"{node.name} is the primary", 2)
        if primary.process:
            primary.process.kill()
        self._ask(instance, node, "SELECT pg_promote(wait => false)")
        deadline = time.monotonic() + PROMOTION_S_MAX
        while self._ask(instance, node, "SELECT pg_is_in_recovery()") != ["f"]:
            wait_on(deadline, f"{node.name} did not become the primary")
        with open(self._record(instance), "w", encoding="ascii") as file:
            file.write(node.name)
        return node

    def command(self, instance: Instance, node: Node) -> list[str]:
        """What makes a commit wait is set when there is somebody to wait for."""
        words = super().command(instance, node)
        for at in [at for at, word in enumerate(words) if word.startswith(SYNCHRONOUS + "=")]:
            del words[at - 1 : at + 1]
        return words

    def uri(self, instance: Instance) -> str:
        login = ":".join(quote(instance.options[key], "") for key in ("user", "password"))
        return f"postgres://{login}@{','.join(f'127.0.0.1:{node.port}' for node in instance.nodes)}/postgres"

    def _record(self, instance: Instance) -> str:
        return os.path.join(instance.folder, "primary")

    def _primary(self, instance: Instance) -> Node:
        with contextlib.suppress(FileNotFoundError), open(self._record(instance), encoding="ascii") as file:
            name = file.read()
            return next(node for node in instance.nodes if node.name == name)
        return instance.nodes[0]

    def _synchronous(self, instance: Instance) -> str:
        return next((value for key, value in instance.options["set"] if key == SYNCHRONOUS), "")

    def _waits(self, instance: Instance, primary: Node) -> bool:
        return self._ask(instance, primary, f"SHOW {SYNCHRONOUS}") != []

    def _ask(self, instance: Instance, node: Node, text: str) -> list[str]:
        login = ":".join(quote(instance.options[key], "") for key in ("user", "password"))
        with contextlib.closing(Psql(f"postgres://{login}@127.0.0.1:{node.port}/postgres")) as server:
            return server.ask(text, ANSWER_S_MAX)

    def _copy(self, source: str, target: str) -> None:
        shutil.copy2(source, target)
        self._account().own(target)

    def _copy_running(self, instance: Instance, primary: Node, node: Node) -> None:
        deadline = time.monotonic() + self.ready_s_max
        secret = os.path.join(instance.node_folder(node), "pgpass")
        with open(secret, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            password = instance.options["password"].replace("\\", "\\\\").replace(":", "\\:")
            file.write(f"*:*:*:*:{password}\n")
        self._account().own(secret)
        words = ["env", f"PGPASSFILE={secret}", self._program("pg_basebackup"), "-h", "127.0.0.1", "-p", str(primary.port),
                 "-U", instance.options["user"], "-D", self.data(instance, node), "-c", "fast", "--no-sync"]  # fmt: skip
        while True:
            try:
                return self._account().run(words, instance.node_folder(node))
            except EngineError as error:  # it is just being started
                wait_on(deadline, str(error))
                self.wipe(instance, node)

    def _follow(self, instance: Instance, primary: Node, node: Node) -> None:
        data = self.data(instance, node)
        for folder, _, files in os.walk(data):
            for name in [*files, ""]:
                self._account().own(os.path.join(folder, name))
        os.chmod(data, 0o700)
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._pid_file(instance, node))
        quoted = {key: instance.options[key].replace("\\", "\\\\").replace("'", "\\'") for key in ("user", "password")}
        source = f"host=127.0.0.1 port={primary.port} user='{quoted['user']}' password='{quoted['password']}'"
        with open(os.path.join(data, "postgresql.auto.conf"), "w", encoding="utf-8") as file:
            file.write("primary_conninfo = '" + source.replace("'", "''") + "'\n")
        with open(os.path.join(data, STANDBY), "w", encoding="ascii"):
            pass
        for name in ("postgresql.auto.conf", STANDBY):
            self._account().own(os.path.join(data, name))
