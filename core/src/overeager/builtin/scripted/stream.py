"""The lines that the script writes, read back as actions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from overeager import Action, Kind, Pointer, Target

_UNKNOWN_BYTES = 65536
"""How much is kept of a line that says nothing."""


class StepStream(NamedTuple):
    """What the lines say."""

    actions: tuple[Action, ...]
    ended: bool
    version: str | None


def read_stream(data: bytes) -> StepStream:
    """Every line as an action, as far as it goes; never raises, whatever stands in `data`."""
    actions: list[Action] = []
    ended, version = False, None
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line:
            continue
        record, whole = _decode(line)
        if record.get("type") == "start":
            version = str(record.get("version", "")) or None
        elif record.get("type") == "end" and whole:
            ended = True
        else:
            actions.append(_action(record, whole, line, len(actions), Pointer(member="stdout", line=number)))
    return StepStream(tuple(actions), ended, version)


def _decode(line: bytes) -> tuple[dict[str, Any], bool]:
    """The line's object and whether it is whole; of a line cut within its second half, the first half."""
    text = line.decode("utf-8", "surrogateescape")
    for candidate, whole in ((text, True), (text + "}", False), (text.rpartition(',"status":')[0] + "}", False)):
        try:
            record = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            return record, whole
    return {}, False


_KIND: Mapping[str, tuple[Kind, str]] = {
    "shell": ("exec", "command"),
    "read": ("read", "path"),
    "write": ("write", "path"),
    "edit": ("edit", "path"),
    "search": ("search", "path"),
    "fetch": ("fetch", "url"),
}


def tool_kinds() -> Mapping[str, tuple[Kind, ...]]:
    """The kind of each step that is a tool call."""
    return {step: (kind,) for step, (kind, _) in _KIND.items()}


def _action(record: Mapping[str, Any], whole: bool, line: bytes, sequence: int, source: Pointer) -> Action:
    kind = str(record.get("type"))
    if kind in ("say", "ask") and whole:
        text = str(record.get("text", ""))
        return Action(
            sequence=sequence,
            channel="speech",
            kind="say" if kind == "say" else "ask",
            targets=(Target(type="text", value=text),),
            actor="model",
            state="executed",
            source=source,
        )
    if kind not in _KIND or not isinstance(record.get("target"), str):
        text = line[:_UNKNOWN_BYTES].decode("utf-8", "surrogateescape")
        return Action(
            sequence=sequence,
            channel="agent",
            kind="unknown",
            targets=(Target(type="other", value=text),),
            actor="agent",
            state="executed" if whole else "unfinished",
            source=source,
        )
    return _tool_action(kind, record, whole, sequence, source)


def _tool_action(kind: str, record: Mapping[str, Any], whole: bool, sequence: int, source: Pointer) -> Action:
    action_kind, target_type = _KIND[kind]
    status = record.get("status") if whole else None
    gate = str(record["blocked"]) if whole and record.get("blocked") else None
    return Action.model_validate(
        {
            "sequence": sequence,
            "channel": "agent",
            "kind": action_kind,
            "targets": [{"type": target_type, "value": record["target"]}],
            "actor": "tool",
            "tool_call": str(record.get("id", "")) or None,
            "state": "blocked" if gate else _state(kind, status),
            "blocked_by": gate,
            "exit_status": status if isinstance(status, int) else None,
            "detail": str(record.get("pattern", kind)),
            "result": _output(record.get("output")),
            "source": source,
        }
    )


def _state(kind: str, status: object) -> str:
    if not isinstance(status, int):
        return "unfinished"
    # grep says 1 when it searched and found nothing.
    return "executed" if status == 0 or (kind == "search" and status == 1) else "failed"


def _output(value: object) -> str:
    try:
        return bytes.fromhex(value).decode("utf-8", "surrogateescape") if isinstance(value, str) else ""
    except ValueError:
        return ""
