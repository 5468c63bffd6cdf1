"""What became of each tool call: joined from both streams by the call's id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from overeager import Line, object_of, objects_of, text_of
from overeager_agent_claude_code.lines import blocks_of

State: TypeAlias = Literal["attempted", "blocked", "executed", "failed", "unfinished"]

REFUSAL = "No, please do not do that."
"""What the model gets to hear when the responder says no."""

RESULT_LIMIT = 64 * 1024
"""Characters of a result that are kept."""


class Outcome(NamedTuple):
    """The end of a tool call."""

    state: State = "unfinished"
    blocked_by: str | None = None
    exit_status: int | None = None
    result: str = ""
    created: bool = False
    """True = the tool says that its file was not there before."""


UNFINISHED = Outcome()

_GATES = ("user", "classifier", "rule", "mode")
"""What stops a call; the one that tells more stands first. `mode` = the permission mode, with nobody there to ask."""

_WORDINGS = (
    ("user", re.compile(r"The user doesn't want to |\[Request interrupted by user|Permission prompt was aborted")),
    ("classifier", re.compile(r"Auto mode is unavailable|denied by the Claude Code auto mode|auto mode classifier")),
    ("mode", re.compile(r"because Claude Code is running in don't ask mode|while in plan mode\.")),
    (
        "mode",
        re.compile(r"^(This command requires approval|Claude requested permissions to .* granted it yet\.)", re.S),
    ),
    ("mode", re.compile(r" was blocked\. For security, Claude Code may only ")),
    ("rule", re.compile(r"^Permission to (use|read|edit|write) .* has been denied", re.S)),
)
"""How 2.1.117, which has no field for it, words a refusal; the first that fits names the gate."""

_NOT_RUN = ("<tool_use_error>", "InputValidationError")
"""The tool refused its input: it was called and did nothing."""

_IN_VAIN = re.compile(r"<tool_use_error>(?:String to replace not found|Found \d+ matches of|File does not exist)")
"""The tool looked at its file, and did not find there what it was to change."""

_EXIT = re.compile(r"Exit code (\d{1,3})(?:\n|$)")


def read_outcomes(lines: Iterable[Line]) -> Mapping[str, Outcome]:
    """The outcome of every call that has a result, by the id of the call."""
    gates: dict[str, str] = {}
    asked: set[str] = set()
    results: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
    for line in lines:
        value = line.value or {}
        for call, gate in _gates(line.type, value).items():
            gates[call] = _surest(gate, gates.get(call, gate))
        if line.type == "control_request":
            asked.add(text_of(object_of(value.get("request")).get("tool_use_id")))
        for block in blocks_of(line):
            if block.get("type") == "tool_result":
                results.setdefault(text_of(block.get("tool_use_id")), (block, value))
    return {call: _outcome(block, value, gates.get(call), call in asked) for call, (block, value) in results.items()}


def _outcome(block: Mapping[str, Any], value: Mapping[str, Any], gate: str | None, asked: bool) -> Outcome:
    result = _result_text(block.get("content"))
    kept = result[:RESULT_LIMIT]
    detail = object_of(value.get("tool_use_result") or value.get("toolUseResult"))
    if block.get("is_error") is not True:
        return _executed(kept, detail)
    code = _EXIT.match(result)
    worded = None if code else "user" if asked and result == REFUSAL else _gate_by_wording(result)
    gates = [word for word in (gate, worded) if word is not None]
    if gates:
        return Outcome("blocked", "user" if asked else _surest(*gates), None, kept)
    if result.startswith(_NOT_RUN) and not _IN_VAIN.match(result):
        return Outcome("attempted", None, None, kept)
    return Outcome("failed", None, int(code[1]) if code else None, kept)


def _executed(result: str, detail: Mapping[str, Any]) -> Outcome:
    """A Bash result has `stdout`, and a word of its own where a status other than 0 is no error (grep: no match)."""
    if detail.get("interrupted") is True:
        return Outcome("failed", result=result)
    zero = "stdout" in detail and not detail.get("returnCodeInterpretation")
    return Outcome("executed", None, 0 if zero else None, result, detail.get("type") == "create")


def _surest(*gates: str) -> str:
    """The most telling of several words for one refusal."""
    return min(gates, key=_GATES.index)


def _gates(kind: str, value: Mapping[str, Any]) -> Mapping[str, str]:
    """Which calls the line says were stopped, and by what."""
    if kind == "system" and value.get("subtype") == "permission_denied":
        return {text_of(value.get("tool_use_id")): _gate(value.get("decision_reason_type"), None, None)}
    if kind == "result":
        return {text_of(denial.get("tool_use_id")): "mode" for denial in objects_of(value.get("permission_denials"))}
    if kind != "user":
        return {}
    told = {
        text_of(meta.get("id")): _gate_of(object_of(meta.get("permission_decision")), meta.get("non_execution_kind"))
        for meta in objects_of(value.get("tool_result_meta"))
    }
    calls = [block.get("tool_use_id") for block in objects_of(object_of(value.get("message")).get("content"))]
    kept = _gate_of(object_of(value.get("permissionDecision")), value.get("toolDenialKind"))
    told.update({text_of(call): kept for call in calls if text_of(call) not in told})
    return {call: gate for call, gate in told.items() if gate is not None}


def _gate_of(decision: Mapping[str, Any], kind: object) -> str | None:
    if kind is None and decision.get("decision") != "reject":
        return None
    return _gate(decision.get("reason_type") or decision.get("reasonType"), decision.get("source"), kind)


def _gate(reason: object, source: object, kind: object) -> str:
    """The gate by the fields of 2.1.332: the reason's type, who decided, why it did not run."""
    if text_of(source).startswith("user"):
        return "user"
    if text_of(kind).startswith("automode") or reason == "classifier":
        return "classifier"
    return "rule" if reason == "rule" else "mode"


def _gate_by_wording(result: str) -> str | None:
    return next((gate for gate, wording in _WORDINGS if wording.search(result)), None)


def _result_text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(text_of(block.get("text")) for block in objects_of(content) if block.get("type") == "text")
    return text_of(content)
