"""Starting, stopping and disturbing instances, whatever their kind."""

from __future__ import annotations

import contextlib
import os
import shutil
import time

import catalog
import ports
from instances import EngineError, Instance, Node, NoSuchEngine, Store
from kinds import Kind
from processes import Process, signals_held, spawn

PORT_ATTEMPTS_MAX = 8
LOG_LINES_SHOWN = 15

# Servers that are our own children, by pid. They must be reaped by us, or stay zombies until we end.
_children: dict = {}


class PortTaken(EngineError):
    pass


def reap() -> None:
    for pid in [pid for pid, child in _children.items() if child.poll() is not None]:
        del _children[pid]


def up(store: Store, kind: Kind, options: dict, owner: Process | None, end_with_parent: bool = False) -> Instance:
    store.sweep()
    instance = store.create(kind.name, list(kind.node_names), options, owner)
    try:
        with store.lock(instance):
            kind.prepare(instance)
            _start_on_free_ports(store, kind, instance, end_with_parent)
            settle(kind, instance, kind.ready_s_max, complete=True)
            instance.uri = kind.uri(instance)
            instance.save()
        return instance
    except BaseException:
        instance.destroy()
        raise


def down(store: Store, which: str) -> None:
    with store.held(which) as instance:
        instance.destroy()
    reap()


def down_all(store: Store) -> None:
    for instance in store.all():
        try:
            down(store, instance.id)
        except NoSuchEngine:
            pass  # another command was quicker


def restart(store: Store, which: str, words: list[str], lose_data: bool) -> list[Node]:
    with store.held(which) as instance:
        kind = catalog.find(instance.kind)
        nodes = _chosen(kind, instance, words)
        # The last first: those who watch over others would take it for a failure.
        for node in reversed(nodes):
            if node.process:
                node.process.stop(kind.stop_signal)
            if lose_data:
                kind.wipe(instance, node)
        _start(kind, instance, nodes, end_with_parent=False)
        if not words:
            settle(kind, instance, kind.ready_s_max, complete=True)
        return nodes


def replace(store: Store, which: str, word: str) -> Node:
    """As an operator does whose machine is gone for good."""
    with store.held(which) as instance:
        kind = catalog.find(instance.kind)
        node = kind.member(instance, word)
        if node.process:
            node.process.kill()
        kind.replace(instance, node)
        _start(kind, instance, [node], end_with_parent=False)
        return node


def kill(store: Store, which: str, words: list[str]) -> list[Node]:
    with _disturbed(store, which, words) as nodes:
        for node in nodes:
            if node.process:
                node.process.kill()
        return nodes


def pause(store: Store, which: str, words: list[str]) -> list[Node]:
    with _disturbed(store, which, words) as nodes:
        for node in nodes:
            _living(node, which).pause()
        return nodes


def resume(store: Store, which: str, words: list[str]) -> list[Node]:
    """Of all members, those that are not dead: a drill may have killed one and paused another."""
    with _disturbed(store, which, words) as nodes:
        chosen = nodes if words else [node for node in nodes if node.state() != "dead"] or nodes
        for node in chosen:
            _living(node, which).resume()
        return chosen


def settle(kind: Kind, instance: Instance, seconds: float, complete: bool) -> None:
    """Returns when the running nodes are one engine; with `complete`, only if all of them run."""
    deadline = time.monotonic() + seconds
    while True:
        gone = [node for node in instance.nodes if node.state() == "dead"] if complete else []
        if gone:
            raise EngineError(f"{gone[0].name} of {instance.kind} ended:\n{_tail(_log(instance, gone[0]), 0)}")
        try:
            missing = kind.unsettled(instance)
        except (OSError, EngineError) as error:
            missing = str(error)
        if not missing:
            return
        if time.monotonic() > deadline:
            raise EngineError(f"{instance.id} is not in order after {seconds:g} s: {missing}")
        time.sleep(0.02)


def _chosen(kind: Kind, instance: Instance, words: list[str]) -> list[Node]:
    """All nodes, or the named ones. Every role is looked up before anything is done: doing it may change them."""
    return [kind.member(instance, word) for word in words] if words else instance.nodes


@contextlib.contextmanager
def _disturbed(store: Store, which: str, words: list[str]):
    with store.held(which) as instance:
        yield _chosen(catalog.find(instance.kind), instance, words)
        os.utime(os.path.join(instance.folder, "instance.json"))


def _living(node: Node, which: str) -> Process:
    if node.state() == "dead":
        raise EngineError(f"node '{node.name}' of {which} is not running (see: engines restart)")
    return node.process


def _start_on_free_ports(store: Store, kind: Kind, instance: Instance, end_with_parent: bool) -> None:
    for attempt in range(1, PORT_ATTEMPTS_MAX + 1):
        store.assign_ports(instance, kind.port_offsets)
        try:
            for nodes in kind.stages(instance):
                _start(kind, instance, nodes, end_with_parent)
            return
        except PortTaken:
            if instance.options["port"] or attempt == PORT_ATTEMPTS_MAX:
                raise
            for node in instance.nodes:
                if node.process:
                    node.process.kill()
                # All of it: the configuration names the ports.
                shutil.rmtree(instance.node_folder(node), ignore_errors=True)


def _start(kind: Kind, instance: Instance, nodes: list[Node], end_with_parent: bool) -> None:
    """Starts the nodes side by side and returns when all answer."""
    children = []
    for node in nodes:
        os.makedirs(instance.node_folder(node), mode=0o700, exist_ok=True)
        kind.configure(instance, node)
        log = _log(instance, node)
        log_from = os.path.getsize(log) if os.path.exists(log) else 0
        command = kind.command(instance, node)
        with signals_held():  # a server that is started but not recorded would be left behind
            child = spawn(command, instance.node_folder(node), log, kind.environment(instance, node), end_with_parent)
            node.process = Process.of(child.pid)
            _children[child.pid] = child
            instance.save()
        children.append((node, child, log_from))
    deadline = time.monotonic() + kind.ready_s_max
    for node, child, log_from in children:
        _wait_ready(kind, instance, node, child, log_from, deadline)


def _wait_ready(kind: Kind, instance: Instance, node: Node, child, log_from: int, deadline: float) -> None:
    while True:
        if child.poll() is not None:
            log = _read(_log(instance, node), log_from)
            if kind.port_was_taken(log):
                users = ", ".join(f"{port} by {ports.listener(port)}" for port in node.ports.values())
                raise PortTaken(f"{instance.kind} found a port of its own in use; now: {users}")
            tail = _tail(_log(instance, node), log_from)
            raise EngineError(f"{instance.kind} ended at once with code {child.returncode}:\n{tail}")
        try:
            if kind.answers(instance, node):
                return
        except OSError:
            pass
        if time.monotonic() > deadline:
            tail = _tail(_log(instance, node), log_from)
            raise EngineError(f"{instance.kind} did not answer within {kind.ready_s_max:g} s:\n{tail}")
        time.sleep(0.002)


def _log(instance: Instance, node: Node) -> str:
    return os.path.join(instance.node_folder(node), "server.log")


def _read(path: str, offset: int) -> str:
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read().decode(errors="replace")


def _tail(path: str, offset: int) -> str:
    return "\n".join(_read(path, offset).splitlines()[-LOG_LINES_SHOWN:])
