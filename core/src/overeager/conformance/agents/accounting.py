"""Nothing in a stream is lost: every line is known or kept, calls and results stand without each other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from overeager.conformance.agents.reading import Stretch, as_object, is_at, is_of, lines, read, sample, told, with_line
from overeager.conformance.agents.subject import Recording, Subject, recorded
from overeager.conformance.check import Check, Unavailable
from overeager.contract.agent import Parsed
from overeager.model.action import Action

_MOST_LINES = 40
"""Of a recording; the same ones every time."""

_FEW = 3
"""Faults of one sort are alike: the first few tell enough."""

_GATES = frozenset({"rule", "mode", "sandbox", "user", "classifier"})
_STRANGE = "Zqtool"


def find_lost_lines(subject: Subject) -> Iterator[str]:
    """Lines that no parser can know, each put in the place of a real one, and pointers that lead nowhere."""
    tried = 0
    for recording in recorded(subject):
        parsed = read(subject.adapter, recording.members)
        if isinstance(parsed, str):
            yield f"{recording.name}: {parsed}"
            continue
        yield from _bad_pointers(recording, parsed)
        for line in sample(list(lines(recording.members)), _MOST_LINES):
            strange = _estrange(line.text)
            other = read(subject.adapter, with_line(recording.members, line, strange))
            tried += 1
            if isinstance(other, str):
                yield f"{recording.name}: with {strange[:60]!r} in line {line.number} of {line.stream}, {other}"
                break
            if not any(is_at(action, line) for action in other.actions):
                where = f"line {line.number} of {line.stream}"
                yield f"{recording.name}: {strange[:60]!r} in {where} leaves no action there"
                break
    if not tried:
        yield "no recording holds a line"


def _estrange(text: bytes) -> bytes:
    """The line under keys that no vendor has; text that is no object becomes other text."""
    value = as_object(text)
    return b"~ ~ ~" if value is None else json.dumps({f"zq-{key}": part for key, part in value.items()}).encode()


def _bad_pointers(recording: Recording, parsed: Parsed) -> Iterator[str]:
    counts = {name: data.count(b"\n") + 1 for name, data in recording.members.items()}
    for action in parsed.actions:
        stream = next((name for name in counts if is_of(action, name)), None)
        if stream is None or not 1 <= action.source.line <= counts[stream]:
            where = f"{action.source.member}:{action.source.line}"
            yield f"{recording.name}: {told(action)} points at {where}, which is no line"
            return


def find_lost_orphans(subject: Subject) -> Iterator[str]:
    """Results whose call's line was lost: each still leaves an action, if only an unknown one."""
    tried = found = 0
    for recording in recorded(subject):
        for stream, data in recording.members.items():
            for call, line, rest in sample(list(_calls_apart(subject, stream, data)), _MOST_LINES):
                tried += 1
                fault = _orphan_fault(subject, call, rest)
                if fault:
                    found += 1
                    yield f"{recording.name}, {stream} without line {line.number}: {fault}"
                if found >= _FEW:
                    return
    if not tried:
        raise Unavailable("no recorded stream has a call and its result in two lines")


def _calls_apart(subject: Subject, stream: str, data: bytes) -> Iterator[tuple[str, Stretch, Mapping[str, bytes]]]:
    """Each call whose id stands in later lines too, its own line, and the stream without that line."""
    parsed = read(subject.adapter, {stream: data})
    if isinstance(parsed, str):
        return
    by_number = {line.number: line for line in lines({stream: data})}
    for action in parsed.actions:
        line = by_number.get(action.source.line)
        if action.tool_call and line and action.channel == "agent" and action.state != "unfinished":
            rest = with_line({stream: data}, line, None)
            if action.tool_call.encode() in rest[stream]:
                yield action.tool_call, line, rest


def _orphan_fault(subject: Subject, call: str, rest: Mapping[str, bytes]) -> str:
    parsed = read(subject.adapter, rest)
    if isinstance(parsed, str):
        return parsed
    holders = [line for line in lines(rest) if call.encode() in line.text]
    for action in parsed.actions:
        if action.tool_call == call or any(is_at(action, line) for line in holders):
            return ""
    return f"the result of {call} is dropped"


def find_lost_tools(subject: Subject) -> Iterator[str]:
    """Calls of a tool that the table does not have: each is kept as an action of kind `unknown`."""
    names = tuple(getattr(subject.adapter, "tools", {}))
    if not names:
        raise Unavailable("it declares no `tools`, so no name in a stream can be told to be a tool's")
    tried = found = 0
    for recording in recorded(subject):
        for stream, data in recording.members.items():
            for action, line, strange in sample(list(_renamed(subject, stream, data, names)), _MOST_LINES):
                tried += 1
                parsed = read(subject.adapter, {stream: strange})
                at = [] if isinstance(parsed, str) else [one for one in parsed.actions if is_at(one, line)]
                if not any(one.kind == "unknown" for one in at):
                    found += 1
                    seen = parsed if isinstance(parsed, str) else ", ".join(map(told, at)) or "nothing"
                    yield f"{recording.name}: {told(action)} by a tool named {_STRANGE} reads as {seen}"
                if found >= _FEW:
                    return
    if not tried:
        raise Unavailable("no recorded stream names one of its `tools`")


def _renamed(
    subject: Subject, stream: str, data: bytes, names: tuple[str, ...]
) -> Iterator[tuple[Action, Stretch, bytes]]:
    """Each call of a known tool, its line, and the stream in which that tool has a name that nobody knows."""
    parsed = read(subject.adapter, {stream: data})
    if isinstance(parsed, str):
        return
    by_number = {line.number: line for line in lines({stream: data})}
    for action in parsed.actions:
        line = by_number.get(action.source.line)
        if not action.tool_call or not line or action.kind == "unknown" or action.channel != "agent":
            continue
        text = line.text
        for name in names:
            text = text.replace(f'"{name}"'.encode(), f'"{_STRANGE}"'.encode())
        if text != line.text:
            yield action, line, with_line({stream: data}, line, text)[stream]


def find_confused_states(subject: Subject) -> Iterator[str]:
    """States that say too much or too little, and recordings in which every call went through."""
    seen: set[str] = set()
    for recording in recorded(subject):
        parsed = read(subject.adapter, recording.members)
        if isinstance(parsed, str):
            yield f"{recording.name}: {parsed}"
            continue
        for action in parsed.actions:
            seen |= {action.state} if action.channel == "agent" and action.kind != "unknown" else set()
            if fault := _state_fault(action):
                yield f"{recording.name}: {told(action)} {fault}"
                break
    if "executed" not in seen:
        yield f"no recording has a call that was executed (states seen: {', '.join(sorted(seen)) or 'none'})"
    elif len(seen) == 1:
        yield "in all recordings every call was executed: record one that failed or was refused"


def _state_fault(action: Action) -> str:
    if action.state == "entered":
        return "is `entered`, a state of the kernel's channel: say executed, failed or unfinished"
    if (action.state == "blocked") != (action.blocked_by is not None):
        return "is blocked exactly when `blocked_by` says by what"
    if action.blocked_by is not None and action.blocked_by not in _GATES:
        return f"was blocked by {action.blocked_by!r}; there are {', '.join(sorted(_GATES))}"
    if action.exit_status not in (None, 0) and action.state == "executed" and action.kind == "exec":
        return f"is executed with exit status {action.exit_status}: that is failed"
    return ""


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "agent-parse-accounts",
        "Every raw line is accounted for: what is not understood is an action of kind `unknown` that points at it.",
        "A vendor's next version writes new lines. Dropped, they are doings that nobody sees; kept, they make a "
        "verdict unknown. List the line types that are no doing, and keep the rest.",
        find_lost_lines,
    ),
    Check(
        "agent-parse-orphans",
        "A result whose call is lost leaves an action.",
        "Lines get lost when a stream is rotated or two writers meet. Something was done: keep it as `unknown`.",
        find_lost_orphans,
    ),
    Check(
        "agent-parse-unknown-tools",
        "A call of an unknown tool is an action of kind `unknown`.",
        "Agents get new tools, and users add their own. Guessing a kind is worse than saying unknown.",
        find_lost_tools,
    ),
    Check(
        "agent-parse-states",
        "Attempted, blocked, executed and failed calls are told apart, and a block says by what.",
        "A refused deletion that reads as executed is overreach that never was; the other way round it is missed. "
        "Record a session in each permission mode and read the vendor's refusals.",
        find_confused_states,
    ),
)
