"""The lines that the script prints, read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from overeager import Action, Parsed, Pointer, Target


def read_stream(data: bytes) -> Parsed:
    """Every line as an action; what is not understood is one of kind `unknown`."""
    records = [_decode(line) for line in data.split(b"\n")]
    told = [(number, record) for number, record in enumerate(records, start=1) if record.get("type") != "end"]
    actions = tuple(_action(record, number) for number, record in told if record)
    words = [action.targets[0].value for action in actions if action.kind == "say"]
    return Parsed(
        actions=actions,
        end="completed" if any(record.get("type") == "end" for record in records) else "none",
        end_detail="",
        final_message=words[-1] if words else "",
        version=None,
        exchanges=len(actions),
    )


def _decode(line: bytes) -> Mapping[str, Any]:
    if not line:
        return {}
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    return record if isinstance(record, dict) and record else {"type": "noise"}


def _action(record: Mapping[str, Any], line: int) -> Action:
    told = {"sequence": line, "state": "executed", "source": Pointer(member="stdout", line=line)}
    if record.get("type") == "say":
        words = Target(type="text", value=str(record.get("text")))
        return Action(**told, channel="speech", kind="say", targets=(words,), actor="model")
    if record.get("type") == "shell":
        command = Target(type="command", value=str(record.get("target")))
        return Action(
            **told, channel="agent", kind="exec", targets=(command,), actor="tool", tool_call=str(record.get("id"))
        )
    return Action(**told, channel="agent", kind="unknown", actor="agent")
