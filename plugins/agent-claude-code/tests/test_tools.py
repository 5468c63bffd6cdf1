"""Steps to tool calls and back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from overeager import Step, ToolUse
from overeager_agent_claude_code.adapter import ClaudeCode
from overeager_agent_claude_code.parse import parse

OLD_TOOLS = ("Agent", "Bash", "Edit", "Glob", "Grep", "Read", "TodoWrite", "WebFetch", "Write")
NEW_TOOLS = ("Agent", "Bash", "Edit", "Read", "Skill", "ToolSearch", "Write")
WORKSPACE, HOME = "/home/user/project", "/home/user"


def step(**fields: object) -> Step:
    """A step that changes nothing unless told."""
    return Step.model_validate({"expect": {}, **fields} if {"shell", "write", "edit"} & fields.keys() else fields)


def encode(one: Step, tools: tuple[str, ...]) -> ToolUse | None:
    return ClaudeCode().encode(one, tools, WORKSPACE, HOME)


def parsed(call: ToolUse) -> tuple[str, str, str]:
    """(kind, target type, target) of a call, by way of the stream."""
    block = {"type": "tool_use", "id": "toolu_1", "name": call.name, "input": call.arguments}
    raw = json.dumps({"type": "assistant", "cwd": WORKSPACE, "message": {"content": [block]}})
    (action,) = parse({"session": raw.encode()}).actions
    return action.kind, action.targets[0].type, action.targets[0].value


@pytest.mark.pure
@pytest.mark.parametrize("tools", [OLD_TOOLS, NEW_TOOLS])
@pytest.mark.parametrize(
    ("one", "meaning"),
    [
        (step(shell="rm -rf build && ls"), ("exec", "command", "rm -rf build && ls")),
        (step(read="src/app.py"), ("read", "path", f"{WORKSPACE}/src/app.py")),
        (step(read="~/.ssh/id"), ("read", "path", "/home/user/.ssh/id")),
        (step(write={"path": "a b", "content": "x"}), ("write", "path", f"{WORKSPACE}/a b")),
        (step(edit={"path": "x/y", "old": "1", "new": "2"}), ("edit", "path", f"{WORKSPACE}/x/y")),
    ],
)
def test_parse_gives_back_what_encode_was_given(tools: tuple[str, ...], one: Step, meaning: object) -> None:
    call = encode(one, tools)
    assert call is not None
    assert parsed(call) == meaning


@pytest.mark.pure
def test_a_search_is_a_grep_where_it_is_offered_and_a_shell_grep_elsewhere() -> None:
    one = step(search={"pattern": "to do", "path": "src"})
    old, new = encode(one, OLD_TOOLS), encode(one, NEW_TOOLS)
    assert old is not None
    assert new is not None
    assert parsed(old) == ("search", "path", f"{WORKSPACE}/src")
    assert parsed(new) == ("exec", "command", f"grep -rn -e 'to do' -- {WORKSPACE}/src")


@pytest.mark.pure
@pytest.mark.parametrize("tools", [OLD_TOOLS, NEW_TOOLS])
def test_a_fetch_is_a_curl_since_webfetch_asks_its_vendor_first(tools: tuple[str, ...]) -> None:
    call = encode(step(fetch="http://service.test/a?b=1&c"), tools)
    assert call == ToolUse(
        "Bash", {"command": "curl -sS 'http://service.test/a?b=1&c'", "description": "Run a command"}
    )


@pytest.mark.pure
@pytest.mark.parametrize("tools", [OLD_TOOLS, NEW_TOOLS])
def test_an_edit_is_read_first_in_the_same_message(tools: tuple[str, ...]) -> None:
    call = encode(step(edit={"path": "a", "old": "1", "new": "2"}), tools)
    assert call is not None
    assert call.before == (ToolUse("Read", {"file_path": f"{WORKSPACE}/a"}),)


@pytest.mark.pure
def test_a_write_is_read_first_only_where_the_file_is_there() -> None:
    over = encode(step(write={"path": "~/a", "content": ""}, expect={"modified": ["~/./a"]}), OLD_TOOLS)
    fresh = encode(step(write={"path": "~/a", "content": ""}, expect={"created": ["~/a"]}), OLD_TOOLS)
    assert over is not None
    assert fresh is not None
    assert [call.name for call in over.before] == ["Read"]
    assert fresh.before == ()


@pytest.mark.pure
def test_what_no_offered_tool_can_do_is_none() -> None:
    assert encode(step(edit={"path": "a", "old": "1", "new": "2"}), ("Bash", "Read")) is None
    assert encode(step(shell="ls"), ("Read",)) is None
    assert encode(step(say="hello"), OLD_TOOLS) is None


@pytest.mark.pure
def test_a_read_without_its_tool_is_a_cat() -> None:
    call = encode(step(read="a"), ("Bash",))
    assert call is not None
    assert parsed(call) == ("exec", "command", f"cat -- {WORKSPACE}/a")


@pytest.mark.parametrize(
    "pattern", ["a(b", "a\\|zz", "a[(|]b", "x\\{2\\}", "\\(ab\\)\\1", "a+b", "^a.b$", "[]x]", "\\.py"]
)
def test_the_grep_tools_pattern_matches_what_the_basic_one_does(pattern: str, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("a(b\nzz\na|b\nxx\nabab\na+b\naab\na.b\n]\nx.py\n")
    call = encode(step(search={"pattern": pattern}), OLD_TOOLS)
    assert call is not None
    basic = subprocess.run(["grep", "-G", "-e", pattern, text], capture_output=True, check=True).stdout
    extended = subprocess.run(["grep", "-E", "-e", call.arguments["pattern"], text], capture_output=True, check=True)
    assert extended.stdout == basic


@pytest.mark.pure
@pytest.mark.parametrize("name", sorted(ClaudeCode.tools))
def test_a_call_reads_as_one_of_the_kinds_that_its_tool_declares(name: str) -> None:
    """Whatever it is given; and what edits nothing away makes its file."""
    found = {parsed(ToolUse(name, arguments))[0] for arguments in ({}, {"old_string": ""}, {"old_string": "a"})}
    assert found <= set(ClaudeCode.tools[name])
    assert "unknown" not in found
