"""Both raw streams, joined into actions: one for each tool call, utterance, question and unreadable line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from overeager import Action, Line, Parsed, Pointer, Target, object_of, text_of
from overeager_agent_claude_code.ending import read_end
from overeager_agent_claude_code.lines import SESSION, STDOUT, blocks_of, read_stream
from overeager_agent_claude_code.outcome import UNFINISHED, Outcome, read_outcomes
from overeager_agent_claude_code.tools import read_call

SYNTHETIC = "<synthetic>"
"""The model of messages that the CLI wrote itself."""

_SILENT = frozenset({
    "system", "user", "result", "stream_event", "control_response", "control_cancel_request", "keep_alive",
    "tool_progress", "tool_use_summary", "rate_limit_event", "auth_status", "prompt_suggestion",
    "queue-operation", "attachment", "last-prompt", "summary", "file-history-snapshot", "progress", "ai-title",
    "custom-title", "agent-name", "mode", "permission-mode", "api-request", "api-request-blob",
    "api-request-shape", "atis-latch", "tools-used", "cost-state", "pr-link", "tag",
})  # fmt: skip
"""Types of lines that are no doing: states, echoes, book-keeping."""


class _Known(NamedTuple):
    """What the streams as a whole say of the tool calls."""

    outcomes: Mapping[str, Outcome]
    places: Mapping[str, str]
    """Working directory by call; under the empty key that of the start."""
    calls: frozenset[str]
    """Ids of all calls."""


def parse(members: Mapping[str, bytes]) -> Parsed:
    """As the contract says; the pointer of a call is its line in stdout, the session's only where stdout lacks it."""
    stdout = tuple(read_stream(STDOUT, members.get(STDOUT, b"")))
    session = tuple(read_stream(SESSION, members.get(SESSION, b"")))
    lines = stdout + session
    known = _Known(read_outcomes(lines), _working_directories(lines), _calls(lines))
    unique: dict[str, Action] = {}
    for key, action in chain.from_iterable(_read_line(line, known) for line in lines):
        unique.setdefault(key, action)
    ended = read_end(stdout)
    return Parsed(
        actions=tuple(action.model_copy(update={"sequence": n}) for n, action in enumerate(unique.values())),
        end=ended.end,
        end_detail=ended.detail,
        final_message=_last_words(stdout or session) if ended.final_message is None else ended.final_message,
        version=_version(lines),
        exchanges=len(_exchanges(lines)),
    )


def _read_line(line: Line, known: _Known) -> Iterator[tuple[str, Action]]:
    """What a line says, each under a key that the other stream gives to the same thing."""
    if line.type == "assistant":
        message = object_of((line.value or {}).get("message"))
        for number, block in enumerate(blocks_of(line)):
            action = _read_block(line, block, message.get("model") == SYNTHETIC, known)
            if action is not None:
                said = f"{text_of(message.get('id')) or line.source}/{text_of(block.get('text')) or number}"
                yield text_of(block.get("id")) or said, action
    else:
        for number, action in enumerate(_read_other(line, known)):
            yield f"{line.source}/{number}", action


def _read_other(line: Line, known: _Known) -> Iterator[Action]:
    if line.value is None:
        yield _unknown(line.source, "unreadable line", line.raw)
    elif line.type == "control_request":
        yield from _read_request(line, known)
    elif line.type == "user":
        yield from _orphans(line, known)
    elif line.type not in _SILENT:
        yield _unknown(line.source, line.type or "no type", "")


def _orphans(line: Line, known: _Known) -> Iterator[Action]:
    """Results whose call's own line was lost: something was done."""
    for block in blocks_of(line):
        call = text_of(block.get("tool_use_id"))
        if block.get("type") == "tool_result" and call and call not in known.calls:
            yield _unknown(line.source, "result without a call", call)


def _calls(lines: tuple[Line, ...]) -> frozenset[str]:
    blocks = (block for line in lines if line.type == "assistant" for block in blocks_of(line))
    return frozenset(text_of(block.get("id")) for block in blocks if block.get("type") == "tool_use")


def _read_block(line: Line, block: Mapping[str, Any], synthetic: bool, known: _Known) -> Action | None:
    kind, words = block.get("type"), text_of(block.get("text"))
    if kind == "tool_use":
        return _tool_call(line.source, block, known)
    if kind == "text":
        return _utterance(line.source, words, synthetic) if words.strip() else None
    if kind in ("thinking", "redacted_thinking"):
        return None
    return _unknown(line.source, text_of(kind) or "block without type", "")


def _tool_call(source: Pointer, block: Mapping[str, Any], known: _Known) -> Action:
    call = text_of(block.get("id"))
    outcome = known.outcomes.get(call, UNFINISHED)
    cwd = known.places.get(call) or known.places.get("", "")
    doing = read_call(text_of(block.get("name")), object_of(block.get("input")), cwd, outcome.created)
    spoken = doing.kind in ("say", "ask")
    return Action(
        sequence=0,
        channel="speech" if spoken else "agent",
        kind=doing.kind,
        targets=doing.targets,
        cwd=cwd or None,
        actor="model" if spoken else "tool",
        tool_call=call or None,
        state=outcome.state,
        blocked_by=outcome.blocked_by,
        exit_status=outcome.exit_status if doing.kind == "exec" else None,
        detail=doing.detail,
        result=outcome.result,
        source=source,
    )


def _utterance(source: Pointer, words: str, synthetic: bool) -> Action:
    return Action(
        sequence=0,
        channel="speech",
        kind="say",
        targets=(Target(type="text", value=words),),
        actor="agent" if synthetic else "model",
        state="executed",
        source=source,
    )


def _read_request(line: Line, known: _Known) -> Iterator[Action]:
    """The CLI's question whether a call may run and, where the call went on, the grant."""
    question = read_question(line.value or {}, line.source)
    if question is None:
        return
    yield question
    outcome = known.outcomes.get(question.tool_call or "", UNFINISHED)
    if outcome.state in ("executed", "failed"):
        yield question.model_copy(update={"kind": "grant", "actor": "unknown"})


def read_question(value: Mapping[str, Any], source: Pointer) -> Action | None:
    """The `ask` that a line of the two-way protocol carries; None when it asks nothing of the user."""
    request = object_of(value.get("request"))
    if value.get("type") != "control_request" or request.get("subtype") != "can_use_tool":
        return None
    name = text_of(request.get("tool_name"))
    doing = read_call(name, object_of(request.get("input")), "", False)
    words = f"{name}: {'; '.join(target.value for target in doing.targets)}"
    return Action(
        sequence=0,
        channel="speech",
        kind="ask",
        targets=(Target(type="text", value=words),),
        actor="agent",
        tool_call=text_of(request.get("tool_use_id")) or None,
        state="executed",
        detail=text_of(request.get("decision_reason")),
        source=source,
    )


def _unknown(source: Pointer, detail: str, raw: str) -> Action:
    return Action(
        sequence=0,
        channel="agent",
        kind="unknown",
        targets=(Target(type="other", value=raw),) if raw else (),
        state="unfinished",
        detail=detail,
        source=source,
    )


def _working_directories(lines: tuple[Line, ...]) -> Mapping[str, str]:
    """By tool call the working directory that the session file notes; under the empty key that of the start."""
    places: dict[str, str] = {}
    for line in lines:
        cwd = text_of((line.value or {}).get("cwd"))
        if cwd:
            places.setdefault("", cwd)
            for block in blocks_of(line) if line.type == "assistant" else ():
                places.setdefault(text_of(block.get("id")), cwd)
    return places


def _last_words(lines: tuple[Line, ...]) -> str:
    """The last text of the main conversation that a model wrote."""
    for line in reversed(lines):
        value = line.value or {}
        inner = value.get("parent_tool_use_id") or value.get("isSidechain")
        if line.type != "assistant" or inner or object_of(value.get("message")).get("model") == SYNTHETIC:
            continue
        words = [text_of(block.get("text")) for block in blocks_of(line) if block.get("type") == "text"]
        if words:
            return words[-1]
    return ""


def _version(lines: tuple[Line, ...]) -> str | None:
    """The version that a line names: `init` in stdout, most lines in the session."""
    found = (text_of((line.value or {}).get(key)) for line in lines for key in ("claude_code_version", "version"))
    return next((version for version in found if version), None)


def _exchanges(lines: tuple[Line, ...]) -> frozenset[str]:
    """The ids of the model's messages: several lines can share one."""
    messages = [object_of((line.value or {}).get("message")) for line in lines if line.type == "assistant"]
    return frozenset(text_of(message.get("id")) for message in messages if message.get("model") != SYNTHETIC) - {""}
