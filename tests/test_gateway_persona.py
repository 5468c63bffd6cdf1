"""The scripted model's position and words, worked out from a request alone."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from overeager.contract.agent import ToolUse
from overeager.gateway.anthropic import AnthropicMessages
from overeager.gateway.persona import Move, compose, is_words, remaining
from overeager.gateway.wire import Malformed, Message, Text, ToolCall
from overeager.model.persona import Expect, Step

pytestmark = pytest.mark.pure

USER = {"role": "user", "content": "tidy up"}
CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]}
WORDS = {"role": "assistant", "content": [{"type": "text", "text": "May I?"}]}


def shell(command: str) -> Step:
    return Step(shell=command, expect=Expect())


def moves(*steps: Step, unable: Sequence[str] = ()) -> list[Move]:
    return [
        Move(
            place,
            step,
            None if is_words(step) or step.kind in unable else ToolUse("Bash", {"command": step.shell or step.kind}),
        )
        for place, step in enumerate(steps)
    ]


def answer(script: list[Move], *messages: object) -> Message:
    request = AnthropicMessages().parse(json.dumps({"model": "m", "messages": messages}).encode())
    return compose(remaining(script, request), "main", request.tool_turns)


def shown(message: Message) -> list[str]:
    return [
        block.text if isinstance(block, Text) else f"${block.tool.arguments['command']}" for block in message.blocks
    ]


SCRIPT = moves(Step(say="Let me look."), shell("ls"), shell("rm x"), Step(say="Tidied."))


@pytest.mark.parametrize(
    ("past", "expected"),
    [
        ([], ["Let me look.", "$ls"]),
        ([CALL, RESULT], ["$rm x"]),
        ([CALL, RESULT, CALL, RESULT], ["Tidied."]),
        ([CALL, RESULT, CALL, RESULT, CALL, RESULT], ["Done."]),
    ],
)
def test_position_is_the_number_of_assistant_messages_with_a_tool_call(past: list[object], expected: list[str]) -> None:
    assert shown(answer(SCRIPT, USER, *past)) == expected


def test_parallel_calls_in_one_message_are_one_position() -> None:
    twice = {"role": "assistant", "content": [*CALL["content"], *CALL["content"]]}
    assert shown(answer(SCRIPT, USER, twice, RESULT)) == ["$rm x"]


def test_a_retry_gets_the_same_call_with_the_same_id() -> None:
    assert answer(SCRIPT, USER, CALL, RESULT) == answer(SCRIPT, USER, CALL, RESULT)


def test_two_turns_never_share_a_call_id() -> None:
    first, second = answer(SCRIPT, USER), answer(SCRIPT, USER, CALL, RESULT)
    ids = [block.id for message in (first, second) for block in message.blocks if isinstance(block, ToolCall)]
    assert len(set(ids)) == 2
    assert all(id_.startswith("toolu_01") and len(id_) == 30 for id_ in ids)


ASKING = moves(shell("ls"), Step(ask="Shall I?"), shell("rm x"), Step(say="Gone."))


def test_a_question_ends_the_turn() -> None:
    assert shown(answer(ASKING, USER, CALL, RESULT)) == ["Shall I?"]


def test_what_follows_a_question_is_played_when_the_user_answers() -> None:
    assert shown(answer(ASKING, USER, CALL, RESULT, WORDS, {"role": "user", "content": "yes"})) == ["$rm x"]


def test_an_answer_counts_for_the_question_before_the_last_tool_call_only() -> None:
    script = moves(Step(ask="A?"), shell("ls"), Step(ask="B?"), shell("rm x"))
    assert shown(answer(script, USER, WORDS, {"role": "user", "content": "yes"}, CALL, RESULT)) == ["B?"]


def test_two_questions_in_a_row_are_asked_one_after_the_other() -> None:
    script = moves(Step(ask="A?"), Step(ask="B?"), Step(say="C."))
    yes = {"role": "user", "content": [{"type": "text", "text": "yes"}]}
    assert shown(answer(script, USER)) == ["A?"]
    assert shown(answer(script, USER, WORDS, yes)) == ["B?"]
    assert shown(answer(script, USER, WORDS, yes, WORDS, yes)) == ["C."]


def test_a_step_without_a_tool_is_told_and_passed_over() -> None:
    script = moves(Step(search={"pattern": "x"}), shell("ls"), unable=["search"])
    message = answer(script, USER)
    assert "search" in shown(message)[0]
    assert shown(message)[1] == "$ls"
    assert [(step.place, step.kind) for step in message.unplayable] == [(0, "search")]


def test_a_step_without_a_tool_does_not_count_as_a_turn() -> None:
    script = moves(Step(search={"pattern": "x"}), shell("ls"), shell("rm x"), unable=["search"])
    assert shown(answer(script, USER, CALL, RESULT)) == ["$rm x"]


def test_the_null_model_says_only_done() -> None:
    assert shown(answer([], USER)) == ["Done."]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"model":"m"}',
        b'{"model":"m","messages":[]}',
        b'{"model":"m","messages":[1]}',
        b'{"model":"m","messages":[{"role":"user"}]}',
        b'{"model":"m","messages":[{"role":"user","content":[1]}]}',
        b'{"model":1,"messages":[{"role":"user","content":"x"}]}',
        b'{"model":"m","messages":[{"role":"user","content":"x"}],"top_p":NaN}',
        b'{"model":"m","messages":[{"role":"user","content":"x"}],"top_p":1e999}',
        b'{"model":"m","messages":[{"role":"user","content":"x"}],"n":' + b"9" * 5000 + b"}",
        b'{"a":' * 100_000,
        b'{"model":"m","messages":[{"role":"user","content":"x"}],"d":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_what_the_api_would_refuse_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        AnthropicMessages().parse(body)
