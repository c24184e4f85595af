"""Who is who in an instance: members are called by a name that stays, by a port, or by the role they have just now."""

from __future__ import annotations

from collections import namedtuple

from instances import EngineError, Instance, Node


class Member(namedtuple("Member", "node role note", defaults=("",))):
    """The role has a number where it can be had twice: master, replica-0, replica-1. It is "-" if nobody knows."""


def numbered(nodes: list[Node], role: str, notes: dict[str, str] | None = None) -> list[Member]:
    return [Member(node, f"{role}-{i}", (notes or {}).get(node.name, "")) for i, node in enumerate(nodes)]


def by_name_or_port(instance: Instance, word: str) -> Node | None:
    """What can be told without asking a server."""
    for node in instance.nodes:
        if word == node.name or (word.isdigit() and int(word) in node.ports.values()):
            return node
    return None


def by_role(instance: Instance, members: list[Member], word: str) -> Node:
    for member in sorted(members, key=lambda member: member.role):
        if member.role != "-" and word in (member.role, member.role.rpartition("-")[0]):
            return member.node
    known = ", ".join(f"{m.node.name} ({m.role})" if m.role not in ("-", m.node.name) else m.node.name for m in members)
    raise EngineError(f"{instance.id} has no member '{word}' just now, only: {known}", 2)
