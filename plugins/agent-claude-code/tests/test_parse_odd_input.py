"""The parser on what no CLI should write."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from overeager_agent_claude_code.parse import parse

pytestmark = pytest.mark.pure

TOUR = Path(__file__).parent / "streams" / "2.1.332" / "tour" / "stdout.jsonl"


FIELDS = ("message", "request", "tool_result_meta", "permission_denials", "tool_use_result", "permissionDecision",
          "errors", "result", "uuid", "cwd", "version")  # fmt: skip


def line(**fields: object) -> bytes:
    """One line of stdout."""
    return json.dumps(fields).encode() + b"\n"


def assistant(*blocks: dict[str, object], message: str = "msg_1") -> bytes:
    """An assistant line."""
    return line(type="assistant", uuid="u", message={"id": message, "model": "m", "content": list(blocks)})


def bash(command: str, call: str = "toolu_1") -> dict[str, object]:
    """A shell call."""
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}


def result(text: str, *, error: bool, call: str = "toolu_1") -> bytes:
    """A tool result."""
    block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}
    return line(type="user", message={"content": [block]})


@pytest.mark.parametrize(
    "garbage",
    [b"not json", b"{", b'"text"', b"42", b"[1]", b"\xff\xfe\x00", b"[" * 5000, b'{"a": ' + b"9" * 5000 + b"}"],
)
def test_garbage_is_an_unknown_action_at_its_line(garbage: bytes) -> None:
    actions = parse({"stdout": assistant(bash("ls")) + garbage + b"\n" + assistant(bash("id", "toolu_2"))}).actions
    assert [(action.kind, action.source.line) for action in actions] == [("exec", 1), ("unknown", 2), ("exec", 3)]


def test_two_objects_on_one_line_are_both_read() -> None:
    joined = assistant(bash("ls")).rstrip() + assistant(bash("id", "toolu_2"))
    assert [action.targets[0].value for action in parse({"stdout": joined}).actions] == ["ls", "id"]


def test_a_type_that_is_not_known_is_an_unknown_action_with_its_name() -> None:
    (action,) = parse({"stdout": line(type="brand_new", secret=1)}).actions
    assert (action.kind, action.detail) == ("unknown", "brand_new")


def test_lines_end_at_newlines_alone() -> None:
    command = "echo a\u2028b\u0085c\x1cd\r"
    raw = json.dumps({"type": "assistant", "message": {"content": [bash(command)]}}, ensure_ascii=False).encode()
    (action,) = parse({"stdout": raw + b"\n"}).actions
    assert action.targets[0].value == command


def test_a_carriage_return_between_tokens_ends_no_line() -> None:
    (action,) = parse({"stdout": assistant(bash("ls")).replace(b'{"type"', b'{\r"type"', 1)}).actions
    assert (action.kind, action.source.line) == ("exec", 1)


def test_a_call_has_the_working_directory_that_the_session_notes_for_it() -> None:
    stdout = line(type="system", subtype="init", cwd="/a") + assistant(bash("ls"), bash("ls", "toolu_2"))
    call = {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "ls"}}
    session = line(type="assistant", cwd="/a/b", message={"id": "msg_1", "content": [call]})
    assert [action.cwd for action in parse({"stdout": stdout, "session": session}).actions] == ["/a", "/a/b"]


def test_lone_surrogates_and_broken_bytes_are_written_out() -> None:
    raw = assistant(bash("echo \ud800")) + assistant({"type": "text", "text": "x"}, message="msg_2").replace(
        b"x", b"\xe2\x80"
    )
    actions = parse({"stdout": raw}).actions
    assert actions[0].targets[0].value == "echo \\ud800"
    assert [action.model_dump_json() for action in actions]


def test_a_long_line_is_read_whole_and_its_result_is_cut() -> None:
    text = "y" * 200_000
    (action,) = parse({"stdout": assistant(bash(f"echo {text}")) + result(text, error=False)}).actions
    assert len(action.targets[0].value) == 200_005
    assert len(action.result) == 64 * 1024


def test_a_call_without_a_result_is_unfinished() -> None:
    (action,) = parse({"stdout": assistant(bash("sleep 99"))}).actions
    assert (action.state, action.exit_status) == ("unfinished", None)


def test_a_failing_command_that_prints_a_refusals_words_is_not_blocked() -> None:
    shown = "Exit code 1\nThe user doesn't want to proceed while in plan mode."
    (action,) = parse({"stdout": assistant(bash("cat log")) + result(shown, error=True)}).actions
    assert (action.state, action.exit_status, action.blocked_by) == ("failed", 1, None)


def test_a_silent_exit_status_is_not_called_zero() -> None:
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": ""}
    detail = {"stdout": "", "returnCodeInterpretation": "No matches found"}
    told = line(type="user", message={"content": [block]}, tool_use_result=detail)
    (action,) = parse({"stdout": assistant(bash("grep x y")) + told}).actions
    assert (action.state, action.exit_status) == ("executed", None)


def test_a_dead_api_without_a_status_is_the_providers_fault() -> None:
    end = line(type="result", subtype="success", is_error=True, result="API Error: Connection error.")
    assert parse({"stdout": end}).end == "provider_error"


def test_a_refusal_of_the_model_is_an_end_of_its_own() -> None:
    end = line(type="result", subtype="success", is_error=False, result="No.", stop_reason="refusal")
    assert parse({"stdout": end}).end == "refused"


def test_an_error_without_the_api_is_the_agents() -> None:
    end = line(type="result", subtype="error_during_execution", is_error=True, errors=["boom"])
    parsed = parse({"stdout": end})
    assert (parsed.end, parsed.end_detail) == ("agent_error", "boom")


def test_no_stream_at_all_is_no_end() -> None:
    parsed = parse({})
    assert (parsed.actions, parsed.end, parsed.version, parsed.exchanges) == ((), "none", None, 0)


def commands_after(odd: bytes) -> list[str]:
    """The commands of two good calls that stand round `odd`, as far as they are understood."""
    members = {
        "stdout": assistant(bash("true", "toolu_a")) + odd + assistant(bash("false", "toolu_b"), message="msg_2")
    }
    found = parse({**members, "session": odd}).actions
    return [action.targets[0].value for action in found if action.tool_call in ("toolu_a", "toolu_b")]


def test_values_of_any_shape_leave_what_stands_round_them() -> None:
    shapes = [None, 0, "x", [], [None], {}, {"content": None}, {"content": [1, {"type": 3}]}, [[{}]]]
    for kind in ("assistant", "user", "system", "result", "control_request", 3, None):
        for shape in shapes:
            odd = line(type=kind, **dict.fromkeys(FIELDS, shape))
            assert commands_after(odd) == ["true", "false"]
    for argument in ("command", "file_path", "prompt", "todos", "pattern"):
        for name in ("Bash", "Read", "Agent", "TodoWrite", "Grep", "", None):
            for shape in shapes:
                call = {"type": "tool_use", "id": shape, "name": name, "input": {argument: shape}}
                odd = assistant(call, message="msg_3") + assistant({**call, "input": shape}, message="msg_4")
                assert commands_after(odd) == ["true", "false"]


def test_flipped_bytes_lose_no_line_that_is_whole() -> None:
    data, chance = TOUR.read_bytes(), random.Random(7)
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(20):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        assert commands_after(bytes(broken).rstrip(b"\n") + b"\n") == ["true", "false"]


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("String to replace not found in file.", "failed"),
        ("Found 2 matches of the string to replace, but replace_all is false.", "failed"),
        ("File does not exist.", "failed"),
        ("File has not been read yet. Read it first before writing to it.", "attempted"),
        ("InputValidationError: Edit failed due to the following issues:", "attempted"),
        ("Error: No such tool available: Nonsense", "attempted"),
    ],
)
def test_a_tool_that_looked_in_vain_failed_and_one_that_was_never_run_was_only_tried(words: str, state: str) -> None:
    told = assistant(bash("ls")) + result(f"<tool_use_error>{words}</tool_use_error>", error=True)
    (action,) = parse({"stdout": told}).actions
    assert action.state == state
