"""The two-way protocol: each permission question gets the responder's answer, the result closes the session."""

from __future__ import annotations

import json
from typing import Any

from overeager import JsonObject, Line, Reply, object_of, text_of
from overeager_agent_claude_code.lines import STDOUT, read_stream
from overeager_agent_claude_code.outcome import REFUSAL
from overeager_agent_claude_code.parse import read_question


def converse(line: bytes, state: JsonObject, answer: bool) -> Reply:
    """Answer one line of output; `state` counts the lines, so that questions can point at theirs."""
    number = int(state.get("lines", 0)) + 1
    after = {"lines": number}
    replies: list[bytes] = []
    actions = []
    close = False
    for part in read_stream(STDOUT, line):
        source = part.source.model_copy(update={"line": number})
        question = read_question(part.value or {}, source)
        if question is not None:
            replies.append(_answer(part, answer))
            actions.append(question)
            actions += [question.model_copy(update={"kind": "grant", "actor": "unknown"})] if answer else []
        elif part.type == "control_request":
            replies.append(_refuse(part))
        close = close or part.type == "result"
    return Reply(tuple(replies), after, tuple(actions), close)


def _answer(line: Line, answer: bool) -> bytes:
    request = object_of((line.value or {}).get("request"))
    allow = {"behavior": "allow", "updatedInput": object_of(request.get("input"))}
    return _respond(line, {"subtype": "success", "response": allow if answer else _DENY})


_DENY = {"behavior": "deny", "message": REFUSAL}


def _refuse(line: Line) -> bytes:
    """A request that is no question (a hook, a tool server): we offer nothing of the kind, and it must not hang."""
    return _respond(line, {"subtype": "error", "error": "not supported"})


def _respond(line: Line, response: dict[str, Any]) -> bytes:
    whole = {"request_id": text_of((line.value or {}).get("request_id")), **response}
    return json.dumps({"type": "control_response", "response": whole}).encode() + b"\n"
