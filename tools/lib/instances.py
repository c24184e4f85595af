"""The record of running engines: one folder per instance, with instance.json, its data and its logs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time

from locked_file import locked
from ports import PORT_MAX, Claims, find_free
from processes import Process, ProcessError, boot_id

# A dead instance may be waiting for its restart, so it is swept only after nobody touched it for this long.
DEAD_KEPT_S = 600.0
# A folder without a record is one that is just being made or removed, or the rest of a command that was killed.
UNRECORDED_KEPT_S = 60.0
_DOOMED = ".doomed"


class EngineError(Exception):
    """Something to tell the user in one line; `code` is the exit code."""

    def __init__(self, message: str, code: int = 1):
        super().__init__(message)
        self.code = code


class NoSuchEngine(EngineError):
    pass


class Node:
    """One server process of an instance."""

    def __init__(self, name: str, ports: dict[str, int] | None = None, process: Process | None = None):
        self.name = name
        self.ports = ports or {}
        self.process = process

    @property
    def port(self) -> int:
        return self.ports["client"]

    def state(self) -> str:
        return self.process.state() if self.process else "dead"


class Instance:
    """An engine: one or more nodes behind one URI."""

    def __init__(self, record: dict, folder: str):
        self.id: str = record["id"]
        self.kind: str = record["kind"]
        self.options: dict = record["options"]
        self.uri: str = record["uri"]
        self.boot: str = record["boot"]
        self.folder = folder
        self.owner = Process(**record["owner"]) if record["owner"] else None
        self.nodes = [
            Node(node["name"], node["ports"], Process(**node["process"]) if node["process"] else None)
            for node in record["nodes"]
        ]

    def record(self) -> dict:
        def plain(process: Process | None) -> dict | None:
            return {"pid": process.pid, "start": process.start} if process else None

        return {
            "id": self.id,
            "kind": self.kind,
            "options": self.options,
            "uri": self.uri,
            "boot": self.boot,
            "owner": plain(self.owner),
            "nodes": [{"name": n.name, "ports": n.ports, "process": plain(n.process)} for n in self.nodes],
        }

    def save(self) -> None:
        path = os.path.join(self.folder, "instance.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.record(), file)
        os.replace(path + ".new", path)

    def node_folder(self, node: Node) -> str:
        return os.path.join(self.folder, node.name)

    def running(self) -> list[Node]:
        """Those that can answer. To ask a paused one would only take time."""
        return [node for node in self.nodes if node.state() == "running"]

    def state(self) -> str:
        states = {node.state() for node in self.nodes}
        return states.pop() if len(states) == 1 else "mixed"

    def abandoned(self) -> bool:
        if self.boot != boot_id() or (self.owner and not self.owner.alive()):
            return True
        if self.owner or any(node.state() != "dead" for node in self.nodes):
            return False
        return time.time() - os.path.getmtime(os.path.join(self.folder, "instance.json")) > DEAD_KEPT_S

    def destroy(self) -> None:
        """Ends the servers and deletes everything. The data is thrown away, so there is no reason to be gentle."""
        if self.boot == boot_id():
            for node in self.nodes:
                if node.process:
                    node.process.kill()
        # Out of the way first: a command that waits for the lock must not find half a folder.
        doomed = f"{self.folder}{_DOOMED}"
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.folder, doomed)
        shutil.rmtree(doomed, ignore_errors=True)


class Store:
    """All instances of this user, in one private folder."""

    def __init__(self):
        environment = os.environ
        base = (
            environment.get("TYER_ENGINES_DIR")
            or environment.get("XDG_RUNTIME_DIR")
            or environment.get("TMPDIR")
            or "/tmp"
        )
        self.root = os.path.join(os.path.abspath(base), f"tyer-engines-{os.getuid()}")
        os.makedirs(self.root, mode=0o700, exist_ok=True)
        if os.stat(self.root).st_uid != os.getuid():
            raise EngineError(f"{self.root} belongs to another user")

    def _load(self, name: str) -> Instance | None:
        folder = os.path.join(self.root, name)
        try:
            with open(os.path.join(folder, "instance.json"), encoding="utf-8") as file:
                return Instance(json.load(file), folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError, TypeError):
            raise EngineError(f"{folder}/instance.json cannot be read; remove the folder") from None

    def all(self) -> list[Instance]:
        found = (self._load(name) for name in sorted(os.listdir(self.root)) if not name.endswith(_DOOMED))
        return [instance for instance in found if instance]

    def find(self, which: str) -> Instance:
        for instance in self.all():
            if which and which in (instance.id, instance.uri):
                return instance
        raise NoSuchEngine(f"no engine '{which}' (see: engines list)")

    @contextlib.contextmanager
    def held(self, which: str):
        """The named instance, for this command alone."""
        instance = self.find(which)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self.lock(instance))
                fresh = self._load(instance.id)
            except FileNotFoundError:
                fresh = None
            if fresh is None:
                raise NoSuchEngine(f"engine '{which}' has just been taken down")
            yield fresh

    def lock(self, instance: Instance):
        return locked(os.path.join(instance.folder, "lock"))

    def create(self, kind: str, node_names: list[str], options: dict, owner: Process | None) -> Instance:
        record = {
            "kind": kind,
            "options": options,
            "uri": "",
            "boot": boot_id(),
            "owner": {"pid": owner.pid, "start": owner.start} if owner else None,
            "nodes": [{"name": name, "ports": {}, "process": None} for name in node_names],
        }
        while True:
            record["id"] = f"{kind}-{os.urandom(3).hex()}"
            folder = os.path.join(self.root, record["id"])
            try:
                os.mkdir(folder, 0o700)
            except FileExistsError:
                continue
            instance = Instance(record, folder)
            instance.save()
            return instance

    def assign_ports(self, instance: Instance, offsets: dict[str, int]) -> None:
        """Gives every node free ports that no other instance of any store, running or killed, has been given."""
        claims = Claims()
        with claims.held():
            taken = claims.others(instance.folder)
            fixed = instance.options.get("port")
            if fixed and taken & {fixed + offset for offset in offsets.values()}:
                raise EngineError(f"port {fixed} belongs to another engine, maybe of another TYER_ENGINES_DIR")
            if fixed and fixed + max(offsets.values()) > PORT_MAX:
                raise EngineError(f"port {fixed} leaves no room for port {fixed + max(offsets.values())}", 2)
            for node in instance.nodes:
                first = fixed or find_free(taken, list(offsets.values()))
                fixed = None
                node.ports = {role: first + offset for role, offset in offsets.items()}
                claims.add(set(node.ports.values()), instance.folder)
                taken.update(node.ports.values())
            instance.save()

    def sweep(self) -> None:
        """Removes what earlier commands could not: instances whose owner, machine or purpose is gone."""
        for instance in self.all():
            try:
                if not instance.abandoned():
                    continue
                with locked(os.path.join(instance.folder, "lock"), wait=False) as mine:
                    fresh = self._load(instance.id) if mine else None
                    if fresh and fresh.abandoned():
                        fresh.destroy()
            except (FileNotFoundError, ProcessError):
                continue
        for entry in os.scandir(self.root):
            with contextlib.suppress(FileNotFoundError):
                recorded = os.path.exists(os.path.join(entry.path, "instance.json"))
                unfinished = entry.name.endswith(_DOOMED) or (entry.is_dir() and not recorded)
                if unfinished and time.time() - entry.stat().st_mtime > UNRECORDED_KEPT_S:
                    shutil.rmtree(entry.path, ignore_errors=True)
