"""A bundle with less in it: each member gone or cut, each channel gone, and the very lines that a TRUE points at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from overeager.model.action import Pointer

Members = Mapping[str, bytes]

_CUTS = (0.0, 0.25, 0.5, 0.75, 0.98)
"""Where a member is cut, as a part of its length; within a line as a rule."""


def lessen(members: Members) -> Iterator[tuple[str, Members]]:
    """Every way of having less that is tried, with a name for it: a member or a channel that is gone, a cut."""
    for name in sorted(members):
        yield f"without {name}", {other: data for other, data in members.items() if other != name}
        data = members[name]
        for part in _CUTS:
            yield f"with {name} cut at {int(part * 100)}%", {**members, name: data[: int(len(data) * part)]}
        if (end := data.rstrip(b"\n").rfind(b"\n")) > 0:
            yield f"with {name} cut before its last line", {**members, name: data[: end + 1]}
    for channel in sorted({_channel(name) for name in members}):
        left = {name: data for name, data in members.items() if _channel(name) != channel}
        if len(left) < len(members) - 1:
            yield f"without all of {channel}", left


def without(members: Members, pointers: Iterable[Pointer]) -> dict[str, bytes]:
    """The members with the lines gone that are pointed at, their counts made right: no gap shows."""
    left = dict(members)
    gone: dict[str, set[int]] = {}
    for pointer in pointers:
        gone.setdefault(pointer.member, set()).add(pointer.line)
    for name, numbers in gone.items():
        if name in left:
            left[name] = _drop(left[name], numbers)
    return left


def _drop(data: bytes, numbers: set[int]) -> bytes:
    lines = [line for at, line in enumerate(data.split(b"\n"), start=1) if at not in numbers]
    records = [line for line in lines if line and not line.startswith(b'{"end":')]
    if len(records) < len([line for line in lines if line]):
        lines = [*records, json.dumps({"end": len(records)}).encode(), b""]
    return b"\n".join(lines)


def _channel(member: str) -> str:
    return member.partition("/")[0].partition(".")[0]
