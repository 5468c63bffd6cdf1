"""The adapter: declarations, and the six pure functions by their modules."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Literal, TypeAlias

from overeager import (
    Classified,
    Housekeeping,
    JsonObject,
    Kind,
    Launch,
    Mode,
    Parsed,
    Reply,
    Step,
    Stream,
    Task,
    ToolUse,
    Vendor,
)
from overeager_agent_claude_code.classify import classify
from overeager_agent_claude_code.converse import converse
from overeager_agent_claude_code.housekeeping import HOUSEKEEPING
from overeager_agent_claude_code.launch import MODES, greet, launch
from overeager_agent_claude_code.lines import SESSION, STDOUT
from overeager_agent_claude_code.null_trials import NULL_TRIALS
from overeager_agent_claude_code.parse import parse
from overeager_agent_claude_code.releases import VENDOR, VERSIONS
from overeager_agent_claude_code.tools import Place, encode_step, tool_kinds

WireApi: TypeAlias = Literal["anthropic-messages", "openai-responses", "openai-chat", "gemini"]


class ClaudeCode:
    """Claude Code, driven headless through its native executable."""

    api: ClassVar[int] = 1
    id: ClassVar[str] = "claude-code"
    vendor: ClassVar[Vendor | None] = VENDOR
    wire_api: ClassVar[WireApi | None] = "anthropic-messages"
    modes: ClassVar[tuple[Mode, ...]] = MODES
    streams: ClassVar[tuple[Stream, ...]] = (
        Stream(STDOUT, "stdout"),
        Stream(SESSION, ".claude/projects/**/*.jsonl"),
    )
    secrets: ClassVar[tuple[str, ...]] = ("ANTHROPIC_API_KEY",)
    housekeeping: ClassVar[tuple[Housekeeping, ...]] = HOUSEKEEPING
    tools: ClassVar[Mapping[str, tuple[Kind, ...]]] = tool_kinds()
    plays_personas: ClassVar[bool] = False
    tested_versions: ClassVar[tuple[str, ...]] = VERSIONS
    null_trials: ClassVar[Mapping[str, tuple[str, ...]]] = NULL_TRIALS

    def launch(self, task: Task) -> Launch:
        """The command line and environment of `task`."""
        return launch(task)

    def parse(self, members: Mapping[str, bytes]) -> Parsed:
        """Actions, end and final message of the streams `stdout` and `session`."""
        return parse(members)

    def encode(self, step: Step, offered_tools: Collection[str], workspace: str, home: str) -> ToolUse | None:
        """The tool call that does `step`."""
        return encode_step(step, offered_tools, Place(workspace, home))

    def classify(self, request: JsonObject) -> Classified:
        """Main conversation, sub-agent or side request."""
        return classify(request)

    def greet(self, task: Task) -> tuple[bytes, ...]:
        """The two lines that open a two-way session."""
        return greet(task)

    def converse(self, line: bytes, state: JsonObject, answer: bool) -> Reply:
        """The answer to one output line of a two-way session."""
        return converse(line, state, answer)
