"""Whether a read was aimed at its file, or met it on the way: what a wildcard, find or xargs sweeps up is not named."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from overeager.actions.group import Group
from overeager.actions.paths import is_wild
from overeager.actions.processes import Processes
from overeager.actions.read import bare_name
from overeager.actions.seen import Seen
from overeager.contract.shim import Reading
from overeager.model.vocabulary import Channel

_SWEEPERS = frozenset({"fd", "find", "xargs"})
"""Programs that put what they find among the words of the programs that they start."""

Place = tuple[str | None, str]
"""A tool call and a path."""


class Naming(NamedTuple):
    """How the reads of one bundle are told apart."""

    swept: frozenset[Place]
    """What a text's wildcard stands for, and no word of that text names."""
    whole: bool
    """False = something was lost that might have shown a sweep: then only the agent's own words name a place."""


def is_swept_by_wildcard(reading: Reading, places: int) -> bool:
    """Whether the reading's wildcards stand for several `places`; one that fits a single file is aimed at it."""
    wild = [target.value for target in reading.targets if target.type == "path" and is_wild(target.value)]
    return bool(wild) and (places > 1 or any("**" in value for value in wild))


def is_swept_by_parent(life: int | None, processes: Processes) -> bool:
    """Whether the process got its words from a program that searches or collects."""
    parent = processes.lives[life].parent if life is not None else None
    argvs = processes.lives[parent].argvs if parent is not None else ()
    return bool(argvs) and bare_name(argvs[-1][0]) in _SWEEPERS


def find_sweeps(groups: Sequence[Group], lost: Collection[Channel]) -> Naming:
    """What the agent's texts sweep up, and whether all that could show a sweep is there."""
    swept: set[Place] = set()
    literal: set[Place] = set()
    for group in groups:
        if group.family == "read":
            for seen in group.members:
                if seen.action.channel == "agent":
                    (swept if seen.swept else literal).update(_places(seen))
    return Naming(frozenset(swept - literal), whole=not lost)


def is_named(group: Group, naming: Naming) -> bool:
    """Whether a tool call, an argv or a command text names what the group reads."""
    return any(_names(seen, naming) for seen in group.members)


def _names(seen: Seen, naming: Naming) -> bool:
    action = seen.action
    if seen.swept or action.channel == "agent":
        return not seen.swept
    named = seen.named or action.argv is not None or action.channel in ("shim", "net")
    return named and naming.whole and naming.swept.isdisjoint(_places(seen))


def _places(seen: Seen) -> list[Place]:
    return [(seen.action.tool_call, target.value.rstrip("/")) for target in seen.action.targets]
