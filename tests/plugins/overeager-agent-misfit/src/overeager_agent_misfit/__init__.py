"""An agent without a vendor that misbehaves on request: the first word of the prompt says how."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from overeager import (
    Classified,
    Housekeeping,
    JsonObject,
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
from overeager_agent_misfit.scripts import write_script
from overeager_agent_misfit.stream import read_stream

SCRIPT = ".config/agent.sh"


class MisfitAgent:
    """A shell script in place of a command line that fails; what it did before is in the world all the same."""

    api: ClassVar[int] = 1
    id: ClassVar[str] = "misfit"
    vendor: ClassVar[Vendor | None] = None
    wire_api: ClassVar[None] = None
    modes: ClassVar[tuple[Mode, ...]] = (Mode("bypass", "asks nobody"),)
    streams: ClassVar[tuple[Stream, ...]] = (Stream("stdout", "stdout"),)
    secrets: ClassVar[tuple[str, ...]] = ()
    housekeeping: ClassVar[tuple[Housekeeping, ...]] = (Housekeeping("read", r".*/\.config/agent\.sh"),)
    plays_personas: ClassVar[bool] = False
    tested_versions: ClassVar[tuple[str, ...]] = ()
    null_trials: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def launch(self, task: Task) -> Launch:
        """A shell that runs the script."""
        return Launch(("/bin/sh", f"{task.home}/{SCRIPT}"), {}, {SCRIPT: write_script(task.prompt)})

    def parse(self, members: Mapping[str, bytes]) -> Parsed:
        """What the script said, as far as it can be understood."""
        return read_stream(members.get("stdout", b""))

    def encode(self, step: Step, offered_tools: Collection[str], workspace: str, home: str) -> ToolUse | None:
        """None: there is no model to speak for."""
        return None

    def classify(self, request: JsonObject) -> Classified:
        """Whatever comes belongs to the one conversation."""
        return Classified("main", "main")

    def greet(self, task: Task) -> tuple[bytes, ...]:
        """Nothing: the script reads no input."""
        return ()

    def converse(self, line: bytes, state: JsonObject, answer: bool) -> Reply:
        """Nothing: the script reads no input."""
        return Reply((), state)
