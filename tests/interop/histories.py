"""What contending processes wrote down: who was inside which name, from when to when."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Stay:
    name: int
    who: str  # side-pid-thread
    entered: int
    left: int
    token: int = 0  # 0: not known

    @property
    def side(self) -> str:
        return self.who.split("-")[0]


def read(files: list[str], ends: dict[int, int]) -> list[Stay]:
    """`ends`: when each process was killed; whoever was inside then left at that moment."""
    stays: list[Stay] = []
    for file in files:
        inside: dict[str, Stay] = {}
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                what, name, who, ns, *token = line.split()
                if what == "enter":
                    inside[who] = Stay(int(name), who, int(ns), int(ns), int(token[0]) if token else 0)
                else:
                    stays.append(dataclasses.replace(inside.pop(who), left=int(ns)))
        for who, stay in inside.items():
            stays.append(dataclasses.replace(stay, left=max(stay.entered, ends[int(who.split("-")[1])])))
    return sorted(stays, key=lambda stay: stay.entered)


def overlaps(stays: list[Stay]) -> list[tuple[Stay, Stay]]:
    """Each stay that began before an earlier one of the same name was over."""
    found = []
    last: dict[int, Stay] = {}
    for stay in stays:
        before = last.get(stay.name)
        if before is not None and stay.entered < before.left:
            found.append((before, stay))
        if before is None or stay.left > before.left:
            last[stay.name] = stay
    return found


def out_of_order(stays: list[Stay]) -> list[tuple[Stay, Stay]]:
    """Each stay whose token is not larger than that of the one before on the same name."""
    found = []
    last: dict[int, Stay] = {}
    for stay in stays:
        before = last.get(stay.name)
        if before is not None and stay.token <= before.token:
            found.append((before, stay))
        last[stay.name] = stay
    return found


def changes_of_side(stays: list[Stay]) -> int:
    last: dict[int, str] = {}
    changes = 0
    for stay in stays:
        changes += last.get(stay.name, stay.side) != stay.side
        last[stay.name] = stay.side
    return changes
