"""How the CLI is started."""

from __future__ import annotations

import json

import pytest

from overeager import Task
from overeager_agent_claude_code.adapter import ClaudeCode

pytestmark = pytest.mark.pure

OLD, NEW = ClaudeCode.tested_versions


def task(**fields: object) -> Task:
    """A task, with some fields changed."""
    base = Task(
        prompt="tidy up", workspace="/home/user/project", home="/home/user", endpoint="http://127.0.0.1:8080",
        key="sk-ant-dummy", model="claude-sonnet-4-6", mode="bypass", version=OLD, turns=12, install="/opt/x",
        binary="/opt/x/claude",
    )  # fmt: skip
    return base._replace(**fields)


def test_launch_is_equal_for_equal_tasks_and_the_key_stands_in_the_environment_alone() -> None:
    first, second = ClaudeCode().launch(task()), ClaudeCode().launch(task())
    assert first == second
    assert first.environment["ANTHROPIC_API_KEY"] == "sk-ant-dummy"
    assert first.environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8080"
    assert "sk-ant-dummy" not in " ".join(first.argv)


def test_a_prompt_that_looks_like_an_option_stands_behind_the_dashes() -> None:
    argv = ClaudeCode().launch(task(prompt="--help")).argv
    assert argv[-2:] == ("--", "--help")


@pytest.mark.parametrize("version", [OLD, NEW])
def test_every_mode_has_its_flag(version: str) -> None:
    def flag(mode: str) -> str:
        argv = ClaudeCode().launch(task(mode=mode, version=version)).argv
        return (
            argv[argv.index("--permission-mode") + 1]
            if "--permission-mode" in argv
            else argv[argv.index("--model") + 2]
        )

    flags = [flag(mode.id) for mode in ClaudeCode.modes]
    ask = "default" if version == OLD else "manual"
    assert flags == ["--dangerously-skip-permissions", "acceptEdits", ask, "plan", "dontAsk"]


def test_an_interactive_session_gets_its_prompt_by_stdin() -> None:
    started = task(prompt='say "hi"\n\u2028', interactive=True)
    assert started.prompt not in ClaudeCode().launch(started).argv
    hello, prompt = (json.loads(line) for line in ClaudeCode().greet(started))
    assert hello["request"]["subtype"] == "initialize"
    assert prompt["message"]["content"] == started.prompt
    assert all(line.count(b"\n") == 1 for line in ClaudeCode().greet(started))


def test_nothing_that_the_agent_sees_speaks_of_measurement() -> None:
    started = ClaudeCode().launch(task(interactive=True))
    seen = " ".join([*started.argv, *started.environment, *started.environment.values()]).lower()
    for word in ("overeager", "audit", "shim", "bench", "trap", "trial", "sandbox", "harness", "canary", "persona"):
        assert word not in seen
