"""Model requests told apart, and the two-way protocol."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overeager import Reply
from overeager_agent_claude_code.adapter import ClaudeCode
from overeager_agent_claude_code.converse import REFUSAL

pytestmark = pytest.mark.pure

STREAMS = Path(__file__).parent / "streams"
OLD, NEW = VERSIONS = ClaudeCode.tested_versions


def request(*tools: str, system: str = "You help.", first: str = "do it") -> dict[str, object]:
    """A model request in the CLI's shape: reminders stand before the words of the user."""
    content = [{"type": "text", "text": "<system-reminder>today</system-reminder>"}, {"type": "text", "text": first}]
    return {
        "tools": [{"name": tool} for tool in tools],
        "system": [{"type": "text", "text": "x-anthropic-billing-header"}, {"type": "text", "text": system}],
        "messages": [{"role": "user", "content": content}],
    }


MAIN_TOOLS = ("Agent", "Bash", "Edit", "Read", "Write")


def test_a_request_with_the_tools_of_a_session_is_the_main_conversation() -> None:
    assert ClaudeCode().classify(request(*MAIN_TOOLS))[:2] == ("main", "main")


def test_sub_agents_are_told_apart_by_their_brief() -> None:
    old = ClaudeCode().classify(request("Bash", "Edit", "Read", "Write", first="look"))
    new = ClaudeCode().classify(request(*MAIN_TOOLS, system="cc_is_subagent=true", first="look"))
    other = ClaudeCode().classify(request("Bash", "Edit", "Read", "Write", first="search"))
    assert (old.role, new.role, other.role) == ("subagent",) * 3
    assert old.conversation == new.conversation != other.conversation


@pytest.mark.parametrize(
    ("system", "canned"),
    [
        ("You are a security monitor for autonomous AI coding agents", "<block>no</block>"),
        ("Generate a concise title", '"title"'),
        ("Summarize this", "Worked"),
        ("anything else", "OK"),
    ],
)
def test_side_requests_get_an_answer_that_they_can_read(system: str, canned: str) -> None:
    classified = ClaudeCode().classify(request(system=system))
    assert classified.role == "side"
    assert canned in classified.canned


@pytest.mark.parametrize("odd", [{}, {"tools": 3, "system": None}, {"tools": [1] * 9, "messages": [{}]}])
def test_classify_takes_requests_of_any_shape(odd: dict[str, object]) -> None:
    assert ClaudeCode().classify(odd).role == "side"


def replay(version: str, name: str, answer: bool) -> list[Reply]:
    """The replies to a recorded session, line by line."""
    replies: list[Reply] = []
    for line in (STREAMS / version / name / "stdout.jsonl").read_bytes().split(b"\n"):
        state = replies[-1].state if replies else {}
        replies.append(ClaudeCode().converse(line + b"\n", state, answer))
    return replies


@pytest.mark.parametrize("version", VERSIONS)
def test_every_question_of_a_session_is_answered_once_and_the_result_closes_it(version: str) -> None:
    replies = replay(version, "asked-yes", answer=True)
    answers = [json.loads(line)["response"] for reply in replies for line in reply.lines]
    assert [answer["response"]["behavior"] for answer in answers] == ["allow", "allow"]
    assert answers[0]["response"]["updatedInput"]["new_string"] == "a + b"
    assert len({answer["request_id"] for answer in answers}) == 2
    assert [reply.close for reply in replies].count(True) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_a_no_is_a_denial_with_words(version: str) -> None:
    replies = replay(version, "asked-no", answer=False)
    answers = [json.loads(line)["response"]["response"] for reply in replies for line in reply.lines]
    assert answers == [{"behavior": "deny", "message": REFUSAL}] * 2


@pytest.mark.parametrize("version", VERSIONS)
def test_questions_and_grants_point_at_their_line(version: str) -> None:
    replies = replay(version, "asked-yes", answer=True)
    raw = (STREAMS / version / "asked-yes" / "stdout.jsonl").read_bytes().split(b"\n")
    actions = [action for reply in replies for action in reply.actions]
    assert [action.kind for action in actions] == ["ask", "grant"] * 2
    assert all(b"can_use_tool" in raw[action.source.line - 1] for action in actions)


def test_a_request_that_asks_nothing_of_the_user_is_refused_so_that_it_does_not_hang() -> None:
    line = json.dumps({"type": "control_request", "request_id": "9", "request": {"subtype": "mcp_message"}}).encode()
    reply = ClaudeCode().converse(line, {}, answer=True)
    assert json.loads(reply.lines[0])["response"] == {"request_id": "9", "subtype": "error", "error": "not supported"}
    assert reply.actions == ()


def test_garbage_is_not_answered() -> None:
    assert ClaudeCode().converse(b"\xff{", {"lines": 4}, answer=True) == Reply((), {"lines": 5})
