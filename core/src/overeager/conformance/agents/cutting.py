"""Streams that were cut, garbled or blown up: `parse` never raises and keeps what stands before the damage."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence

from overeager.conformance.agents.reading import as_object, is_of, is_same, lines, read, sample, told, with_line
from overeager.conformance.agents.subject import Subject, recorded
from overeager.conformance.check import Check
from overeager.contract.agent import Parsed
from overeager.model.action import Action

SHORT = 4096
"""Bytes of a stream that is cut at each of them; a longer one at a sample, the same every time."""

_CUTS = 80
_TURNS = 60
_HUGE = 10 * 1024 * 1024

_ODD: tuple[bytes, ...] = (
    b"no JSON", b"{", b'"text"', b"42", b"null", b"[1]", b"\x00" * 64, b"\xff\xfe\x00", b"\xe2\x82", b"\r", b"{}",
    b"[" * 5000, b'{"a": ' + b"9" * 5000 + b"}", b'{"type": "\\ud800"}', b'{"type": 3, "id": [], "name": {}}',
    "{\"a\": \"\u2028\x85\"}".encode(),
)  # fmt: skip
_HUGE_LINES = (b"x" * _HUGE, b'{"text": "' + b"x" * _HUGE + b'"}')
_VALUES: tuple[object, ...] = (None, 0, -1, True, "x", [], [None], {}, {"content": None}, [[{}]], 1e308)


def find_cut_faults(subject: Subject) -> Iterator[str]:
    """Each stream by itself, cut at every byte or at a sample."""
    for recording in recorded(subject):
        for stream, data in sorted(recording.members.items()):
            whole = read(subject.adapter, {stream: data})
            if isinstance(whole, str):
                yield f"{recording.name}, {stream}: {whole}"
                continue
            for at in _cuts(data):
                cut = read(subject.adapter, {stream: data[:at]})
                fault = cut if isinstance(cut, str) else _lost(whole, cut, stream, data[:at].count(b"\n"))
                if fault:
                    yield f"{recording.name}, {stream} cut after {at} bytes: {fault}"
                    break


def _cuts(data: bytes) -> Sequence[int]:
    if len(data) <= SHORT:
        return range(len(data))
    ends = [at for at, byte in enumerate(data) if byte == 10]
    near = {at + step for at in sample(ends, _CUTS // 2) for step in (0, 1)}
    return sorted(near | set(sample(range(len(data)), _CUTS)))


def _lost(whole: Parsed, cut: Parsed, stream: str, complete: int) -> str:
    """What the cut stream says differently of its complete lines; empty = nothing."""
    kept = [one for one in cut.actions if is_of(one, stream) and one.source.line <= complete]
    place = 0
    for action in whole.actions:
        if not is_of(action, stream) or action.source.line > complete:
            continue
        if place < len(kept) and is_same(action, kept[place]):
            if kept[place].state not in (action.state, "unfinished"):
                return f"{told(action)} becomes {kept[place].state}"
            place += 1
        elif action.kind != "grant":  # that a question was answered stands in a later line
            return f"{told(action)} in line {action.source.line} is lost"
    if place < len(kept):
        return f"{told(kept[place])} in line {kept[place].source.line} is there, which the whole stream does not show"
    if cut.end not in ("none", whole.end):
        return f"the end is called {cut.end}, and of the whole stream {whole.end}"
    return ""


def find_odd_faults(subject: Subject) -> Iterator[str]:
    """Odd lines between good ones, values of other types in good ones, flipped bytes, other line ends."""
    recordings = recorded(subject)
    yield from _empty_faults(subject)
    for number, recording in enumerate(recordings):
        for stream, data in sorted(recording.members.items()):
            told_of = f"{recording.name}, {stream}"
            odd = (*_ODD, *(_HUGE_LINES if number == 0 else ()))
            faults = (*_inserted(subject, stream, data, odd), *_turned(subject, stream, data))
            yield from (f"{told_of}: {fault}" for fault in faults[:2])


def _empty_faults(subject: Subject) -> Iterator[str]:
    names = [stream.name for stream in subject.adapter.streams]
    for members in ({}, dict.fromkeys(names, b""), {"zq-other": b"x\n"}, dict.fromkeys(names, b"\n\n")):
        parsed = read(subject.adapter, members)
        if isinstance(parsed, str):
            yield f"of {members}: {parsed}"
        elif any(action.kind != "unknown" for action in parsed.actions) or parsed.end != "none":
            yield f"of {members} it reads {len(parsed.actions)} actions and the end {parsed.end}: there is no evidence"


def _inserted(subject: Subject, stream: str, data: bytes, odd: Sequence[bytes]) -> Iterator[str]:
    whole = read(subject.adapter, {stream: data})
    if isinstance(whole, str):
        yield whole
        return
    rows = data.split(b"\n")
    place = len(rows) // 2
    for line in odd:
        parsed = read(subject.adapter, {stream: b"\n".join([*rows[:place], line, *rows[place:]])})
        if isinstance(parsed, str):
            yield f"with a line {line[:30]!r}… of {len(line)} bytes, {parsed}"
            continue
        others = [one for one in parsed.actions if one.source.line != place + 1]
        if not _are_same(whole.actions, others):
            yield f"a line {line[:30]!r}… of {len(line)} bytes changes what other lines say"
    ended = read(subject.adapter, {stream: data.replace(b"\n", b"\r\n")})
    if isinstance(ended, str):
        yield f"with lines that end in CRLF, {ended}"
    elif not _are_same(whole.actions, ended.actions):
        yield "lines that end in CRLF say something else"


def _are_same(some: Sequence[Action], others: Sequence[Action]) -> bool:
    return len(some) == len(others) and all(
        is_same(one, other) and one.state == other.state for one, other in zip(some, others, strict=True)
    )


def _turned(subject: Subject, stream: str, data: bytes) -> Iterator[str]:
    """Never raises, whatever a value or a byte was turned into."""
    chance = random.Random(len(data))
    members = {stream: data}
    objects = [line for line in lines(members) if as_object(line.text)]
    for _ in range(_TURNS if objects else 0):
        line = chance.choice(objects)
        turned = _turn(as_object(line.text) or {}, chance)
        parsed = read(subject.adapter, with_line(members, line, json.dumps(turned).encode()))
        if isinstance(parsed, str):
            yield f"with line {line.number} turned into {json.dumps(turned)[:120]}, {parsed}"
    for _ in range(_TURNS // 3 if data else 0):
        broken = bytearray(data)
        for _ in range(8):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        parsed = read(subject.adapter, {stream: bytes(broken)})
        if isinstance(parsed, str):
            yield f"with flipped bytes, {parsed}"


def _turn(value: Mapping[str, object], chance: random.Random) -> Mapping[str, object]:
    """The object with one value, somewhere in it, of another type."""
    key = chance.choice(sorted(value))
    inner = value[key]
    if isinstance(inner, dict) and inner and chance.random() < 0.7:
        return {**value, key: _turn(inner, chance)}
    if isinstance(inner, list) and inner and isinstance(inner[0], dict) and inner[0] and chance.random() < 0.7:
        return {**value, key: [_turn(inner[0], chance), *inner[1:]]}
    return {**value, key: chance.choice(_VALUES)}


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "agent-parse-cut",
        "A stream that is cut at any byte never raises and keeps the actions before the cut; a call may be unfinished.",
        "Sessions are killed at their time limit in the middle of a line. What a cut makes appear, or end otherwise, "
        "would be a verdict that rests on missing evidence.",
        find_cut_faults,
    ),
    Check(
        "agent-parse-odd",
        "Odd input never raises and leaves what stands around it: garbage, NUL, half a letter, CRLF, 10 MB lines.",
        "What an agent prints is not in anybody's hand. Read line by line, take a value only when it has the type that "
        "you expect, and escape what is no text.",
        find_odd_faults,
    ),
)
