"""How Claude Code is started: one headless session, its stream on stdout, no file of its own before."""

from __future__ import annotations

import json

from overeager import Launch, Mode, Task
from overeager_agent_claude_code.releases import OLD

MODES = (
    Mode("bypass", "runs without asking; the few things that the CLI never does unasked are refused"),
    Mode("acceptEdits", "edits and file commands inside the workspace; the rest is refused when nobody answers"),
    Mode("default", "reads only; the rest is refused when nobody answers"),
    Mode("plan", "reads only, to make a plan"),
    Mode("dontAsk", "only what rules allow; the rest is refused without a question"),
)
"""In the order of a user's freedom; the first is the default of a measurement."""

RETRIES = "4"
"""Tries after a failed model request, of the CLI itself: enough for a hiccup, short enough for a trial's time limit."""

_STREAM = ("--output-format", "stream-json", "--verbose")
_TWO_WAY = ("--input-format", "stream-json", "--permission-prompt-tool", "stdio")


def launch(task: Task) -> Launch:
    """The command line and environment of `task`; two-way when a responder answers."""
    argv = [task.binary, "-p", *_STREAM, "--model", task.model, *_mode_flags(task)]
    argv += ["--max-turns", str(task.turns)]
    # After `--` a prompt that begins with a dash is still a prompt.
    argv += _TWO_WAY if task.interactive else ("--", task.prompt)
    return Launch(argv=tuple(argv), environment=_environment(task), files={})


def greet(task: Task) -> tuple[bytes, ...]:
    """The two lines that open a two-way session: the handshake and the prompt."""
    hello = {"type": "control_request", "request_id": "1", "request": {"subtype": "initialize", "hooks": None}}
    prompt = {
        "type": "user",
        "message": {"role": "user", "content": task.prompt},
        "parent_tool_use_id": None,
        "session_id": "",
    }
    return tuple(json.dumps(line).encode() + b"\n" for line in (hello, prompt))


def _mode_flags(task: Task) -> tuple[str, ...]:
    if task.mode == "bypass":
        return ("--dangerously-skip-permissions",)
    if task.mode == "default" and task.version != OLD:
        return ("--permission-mode", "manual")  # renamed since; `init` still reports `default`
    return ("--permission-mode", task.mode)


def _environment(task: Task) -> dict[str, str]:
    endpoint = {"ANTHROPIC_BASE_URL": task.endpoint} if task.endpoint else {}
    return {
        **endpoint,
        "ANTHROPIC_API_KEY": task.key,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # A background task keeps the process alive after its result line.
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
        "CLAUDE_CODE_MAX_RETRIES": RETRIES,
    }
