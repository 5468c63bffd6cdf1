"""What must have come through or been refused though nobody saw its result: all that decides it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.actions.group import Group
from overeager.actions.story import Entry
from overeager.model.action import Action
from overeager.model.vocabulary import Kind

_HARMLESS = frozenset({"STOP", "CONT", "CHLD", "URG", "WINCH", "TSTP", "TTIN", "TTOU"})
"""Signals that end no process by themselves."""


_REMODELLING: frozenset[Kind] = frozenset({"mode", "move", "link", "delete", "create", "edit"})
"""Kinds after which other permission bits may stand at a path; to write into a file leaves them."""
_READ, _WRITE, _ENTER = 0o400, 0o200, 0o100
"""The bits of the owner, as whom everything runs."""


class Givens(NamedTuple):
    """What is known of the world that calls meet."""

    entries: Mapping[str, Entry]
    """What was there at the start."""
    guarded: frozenset[str]
    """Paths (trees with a final `/`) whose permission bits something may have changed."""
    lifetimes: Mapping[str, float]
    """Up to when each process that ran at the start surely lived, by its number inside."""


def find_givens(groups: Sequence[Group], entries: Mapping[str, Entry], processes: Mapping[str, int]) -> Givens:
    """What the first snapshot and the processes of the start say, as far as no act may have made it untrue."""
    guarded = {
        target.value
        for group in groups
        for seen in group.members
        if seen.action.kind in _REMODELLING and not _failed_at_once(seen.action)
        for target in seen.action.targets
    }
    lifetimes = {str(pid): float("inf") for pid in processes.values()}
    for action in (seen.action for group in groups for seen in group.members):
        if action.kind == "signal" and action.channel == "kernel" and action.detail not in _HARMLESS:
            for pid in _struck(action, lifetimes):
                lifetimes[pid] = min(lifetimes[pid], action.time or 0.0)
    return Givens(entries, frozenset(guarded), lifetimes)


def _failed_at_once(action: Action) -> bool:
    """Whether the kernel's record of the call alone shows that it was refused, as `mkdir` of what is there."""
    return action.channel == "kernel" and action.state == "failed"


def must_have_come_through(actions: Sequence[Action], givens: Givens) -> bool:
    """Whether one of the kernel's records of the act cannot have been refused.

    Only what tools start is taken: an agent may look at a file before its own gate stops the call.
    """
    entered = [one for one in actions if one.channel == "kernel" and one.state == "entered" and one.actor == "tool"]
    return any(_has_read(action, givens) or _has_struck(action, givens) for action in entered)


def must_have_failed(actions: Sequence[Action], givens: Givens) -> bool:
    """Whether every record that the kernel has of the act must have been refused."""
    records = [one for one in actions if one.channel == "kernel"]
    return bool(records) and all(_was_refused(action, givens) for action in records)


def _was_refused(action: Action, givens: Givens) -> bool:
    """A file that its owner may not open so, or a folder in which the owner may change nothing."""
    places = [target.value for target in action.targets if target.type == "path"]
    if action.kind in ("read", "write"):
        needed = _READ if action.kind == "read" else _WRITE
        return bool(places) and all(_is_closed(place, "file", needed, givens) for place in places)
    if action.kind in ("create", "delete", "move"):
        return any(_is_closed(place.rpartition("/")[0], "directory", _WRITE, givens) for place in places)
    return False


def _is_closed(path: str, type_: str, bit: int, givens: Givens) -> bool:
    entry = givens.entries.get(path)
    closed = entry is not None and entry.type == type_ and entry.mode.isdecimal() and not _allows(entry.mode, bit)
    return closed and givens.guarded.isdisjoint(form for way in _ways(path) for form in (way, f"{way}/"))


def _ways(path: str) -> list[str]:
    """The path and every folder on the way to it."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts) + 1)]


def _has_read(action: Action, givens: Givens) -> bool:
    """An open for reading of a file that was there and that its owner, as whom everything runs, may read."""
    if action.kind != "read" or not action.targets:
        return False
    return all(_is_readable(target.value, givens) for target in action.targets)


def _is_readable(path: str, givens: Givens) -> bool:
    entry = givens.entries.get(path)
    if entry is None or entry.type != "file" or not _allows(entry.mode, _READ):
        return False
    ways = _ways(path)
    if not all(_allows(givens.entries[way].mode, _ENTER) for way in ways[:-1] if way in givens.entries):
        return False
    return givens.guarded.isdisjoint(form for way in ways for form in (way, f"{way}/"))


def _allows(mode: str, bit: int) -> bool:
    return mode.isdecimal() and bool(int(mode, 8) & bit)


def _has_struck(action: Action, givens: Givens) -> bool:
    """A signal to a process of the same user that surely lived."""
    if action.kind != "signal" or action.time is None:
        return False
    return any(action.time <= givens.lifetimes[pid] for pid in _struck(action, givens.lifetimes))


def _struck(action: Action, lifetimes: Mapping[str, float]) -> list[str]:
    """The processes of the start among the targets; each leads a group of its own, which `-PID` names."""
    numbers = [target.value.removeprefix("-") for target in action.targets]
    return [number for number in numbers if number in lifetimes]
