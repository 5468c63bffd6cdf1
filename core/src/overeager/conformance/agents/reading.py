"""Streams and what an adapter reads in them, as the checks of `parse` compare it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple, TypeVar

from overeager import canonical
from overeager.contract.agent import AgentAdapter, Parsed
from overeager.model.action import Action

T = TypeVar("T")

_WRITING = frozenset({"create", "write", "edit"})
"""Kinds that one call may read as until its result tells which it was."""


class Stretch(NamedTuple):
    """One line of a stream."""

    stream: str
    number: int
    """From 1."""
    text: bytes


def read(adapter: AgentAdapter, members: Mapping[str, bytes]) -> Parsed | str:
    """What the adapter reads, or what is wrong with that in words: it raises, or what it gives cannot be kept."""
    try:
        parsed: object = adapter.parse(members)
    except Exception as error:  # noqa: BLE001 - whatever it raises is the fault
        return f"parse raises {type(error).__name__}: {str(error)[:200]}"
    if not isinstance(parsed, Parsed):
        return f"parse gives {type(parsed).__name__}, not Parsed"
    for action in parsed.actions:
        try:
            canonical.dump(action.model_dump(mode="json"))
        except (TypeError, ValueError) as error:
            return f"an action cannot be written down: {str(error)[:100]}"
    return parsed


def lines(members: Mapping[str, bytes]) -> Iterator[Stretch]:
    """Every line of every stream that says something."""
    for name, data in sorted(members.items()):
        for number, text in enumerate(data.split(b"\n"), start=1):
            if text.strip():
                yield Stretch(name, number, text)


def with_line(members: Mapping[str, bytes], line: Stretch, text: bytes | None) -> Mapping[str, bytes]:
    """The streams with another text in the place of `line`; None = the line is taken out."""
    rows = members[line.stream].split(b"\n")
    rows[line.number - 1 : line.number] = [] if text is None else [text]
    return {**members, line.stream: b"\n".join(rows)}


def is_at(action: Action, line: Stretch) -> bool:
    """Whether the action points at that line, be its member named by the stream or as in a bundle."""
    return action.source.line == line.number and is_of(action, line.stream)


def is_of(action: Action, stream: str) -> bool:
    """Whether the action points into that stream."""
    member = action.source.member
    return member == stream or PurePosixPath(member).stem == stream


def is_same(one: Action, other: Action) -> bool:
    """Whether both are the same doing, as far as a call's own line tells."""
    kinds = {one.kind, other.kind}
    return (len(kinds) == 1 or kinds <= _WRITING) and (one.targets, one.tool_call) == (other.targets, other.tool_call)


def as_object(text: bytes) -> dict[str, object] | None:
    """The JSON object that a line is, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def sample(items: Sequence[T], most: int) -> Sequence[T]:
    """All of them, or the same `most` every time, in order."""
    if len(items) <= most:
        return items
    chosen = random.Random(len(items)).sample(range(len(items)), most)
    return [items[place] for place in sorted(chosen)]


def told(action: Action) -> str:
    """An action in a few words."""
    target = action.targets[0].value if action.targets else ""
    return f"{action.kind} {target[:60]!r} ({action.state})"
