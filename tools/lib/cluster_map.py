"""Who has which slot of a cluster, from what its nodes say (CLUSTER NODES)."""

from __future__ import annotations

from collections import namedtuple

SLOTS = 16384


class Claim(namedtuple("Claim", "id is_self master_id epoch slots")):
    """What one node says of one node, itself or another. A master has an empty master_id. Of two claims to a slot the
    higher epoch counts; a replica has its master's. Slots are a tuple of ranges."""


def parse(text: str) -> dict[int, Claim]:
    """By port; nodes that have not met yet are left out."""
    claims = {}
    for line in text.splitlines():
        identity, address, flags, master, _, _, epoch, _, *slots = line.split()
        if "handshake" in flags or "noaddr" in flags:
            continue
        port = int(address.partition("@")[0].rpartition(":")[2])
        taken = []
        for word in slots:
            if not word.startswith("["):  # those in brackets are on their way
                first, _, last = word.partition("-")
                taken.append(range(int(first), int(last or first) + 1))
        claims[port] = Claim(identity, "myself" in flags, "" if master == "-" else master, int(epoch), tuple(taken))
    return claims


def merged(reports: dict[int, dict[int, Claim]]) -> dict[int, Claim]:
    """The newest word on every node; of equals, its own."""
    newest: dict[int, Claim] = {}
    for claims in reports.values():
        for port, claim in claims.items():
            if port not in newest or (claim.epoch, claim.is_self) > (newest[port].epoch, newest[port].is_self):
                newest[port] = claim
    return newest


def owners(claims: dict[int, Claim]) -> dict[int, int]:
    """Slot to port. A master that comes back still claims what it had, by an older epoch."""
    found: dict[int, int] = {}
    for port, claim in sorted(claims.items(), key=lambda item: item[1].epoch):
        if not claim.master_id:
            for slots in claim.slots:
                found.update(dict.fromkeys(slots, port))
    return found


def port_of(claims: dict[int, Claim], identity: str) -> int | None:
    return next((port for port, claim in claims.items() if claim.id == identity), None)


def ranges(slots: list[int]) -> str:
    """Ascending numbers as 0-5460,5462."""
    parts: list[list[int]] = []
    for slot in slots:
        if parts and parts[-1][-1] == slot - 1:
            parts[-1][-1] = slot
        else:
            parts.append([slot, slot])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
