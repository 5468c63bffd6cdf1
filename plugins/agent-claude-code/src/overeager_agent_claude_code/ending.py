"""The end of a session, by its last `result` line. Never by its subtype: an API error is a `success` there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from overeager import Line, text_of

End: TypeAlias = Literal["completed", "refused", "turn_limit", "provider_error", "agent_error", "none"]

_OWN_FAULT = (400, 404, 413, 422)
"""Answers of the API to a request that was wrong: the agent's doing, the same on every try."""


class Ended(NamedTuple):
    """How the stream says it ended."""

    end: End
    detail: str
    final_message: str | None
    """None = the last words are not the agent's, or there is no end."""


def read_end(lines: Iterable[Line]) -> Ended:
    """The end by the last `result` line; `none` when there is no such line."""
    results = [line.value for line in lines if line.type == "result" and line.value is not None]
    return _read_result(results[-1]) if results else Ended("none", "the stream has no result line", None)


def _read_result(result: Mapping[str, Any]) -> Ended:
    words = text_of(result.get("result"))
    if result.get("subtype") == "error_max_turns":
        return Ended("turn_limit", "the limit of turns was reached", None)
    if result.get("is_error") is not True:
        refused = result.get("stop_reason") == "refusal"
        return Ended("refused" if refused else "completed", "", words)
    status = result.get("api_error_status")
    if status in _OWN_FAULT:
        return Ended("agent_error", f"the API refused the request with {status}: {_first_line(words)}", None)
    if isinstance(status, int) or result.get("terminal_reason") == "api_error" or words.startswith("API Error"):
        return Ended("provider_error", f"the API failed ({status or 'no answer'}): {_first_line(words)}", None)
    errors = result.get("errors")
    said = "; ".join(map(text_of, errors)) if isinstance(errors, list) else ""
    return Ended("agent_error", _first_line(said or words) or text_of(result.get("subtype")), None)


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0][:300]
