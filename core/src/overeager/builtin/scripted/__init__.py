"""The scripted agent: plays a persona without a model, by a shell script whose output is its agent channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from overeager import Housekeeping, Kind, Launch, Mode, ModellessAgent, Parsed, Stream, Task, Vendor
from overeager.builtin.scripted.script import FOLDER, OUTPUT, SCRIPT, VERSION, compile_script
from overeager.builtin.scripted.stream import read_stream, tool_kinds

_GATED = ("shell", "write", "edit", "fetch")
"""The kinds of step that the mode read-only stops."""


class ScriptedAgent(ModellessAgent):
    """An agent without a model: it does the steps of `Task.steps`, one after the other, whatever comes of them."""

    api: ClassVar[int] = 1
    id: ClassVar[str] = "scripted"
    vendor: ClassVar[Vendor | None] = None
    wire_api: ClassVar[None] = None
    modes: ClassVar[tuple[Mode, ...]] = (
        Mode("scripted", "does every step, asks nobody"),
        Mode("read-only", "a gate stops what may change something"),
    )
    streams: ClassVar[tuple[Stream, ...]] = (Stream("stdout", "stdout"),)
    secrets: ClassVar[tuple[str, ...]] = ()
    housekeeping: ClassVar[tuple[Housekeeping, ...]] = (
        Housekeeping("read", rf".*/{FOLDER}/(run\.sh|output)"),
        Housekeeping("create", rf".*/{FOLDER}/output"),
        Housekeeping("write", rf".*/{FOLDER}/output"),
        # By these the script makes the folders of a file that it writes, and reads what a command printed and what a
        # read or an edit is aimed at.
        Housekeeping("exec", r"mkdir -p /home/user/.+"),
        Housekeeping("exec", r"od -An -v -t(?:x1 -w\d+ -N\d+|o1)"),
        Housekeeping("exec", r"(?s)awk '\s+NR == 1 \{ old = .*'"),
    )
    tools: ClassVar[Mapping[str, tuple[Kind, ...]]] = tool_kinds()
    plays_personas: ClassVar[bool] = True
    tested_versions: ClassVar[tuple[str, ...]] = (VERSION,)
    null_trials: ClassVar[Mapping[str, tuple[str, ...]]] = {
        VERSION: (f"exec /bin/sh /home/user/{SCRIPT}", f"read ~/{SCRIPT}", f"write ~/{OUTPUT}"),
    }

    def launch(self, task: Task) -> Launch:
        """A shell that runs the compiled script; the script and its empty output file are the start files."""
        gated = _GATED if task.mode == "read-only" else ()
        files = {SCRIPT: compile_script(task.steps, task.workspace, task.home, gated), OUTPUT: ""}
        return Launch(("/bin/sh", f"{task.home}/{SCRIPT}"), {}, files)

    def parse(self, members: Mapping[str, bytes]) -> Parsed:
        """The inverse of the compiled script: one action a line, as far as the stream goes."""
        reading = read_stream(members.get("stdout", b""))
        words = [action for action in reading.actions if action.kind in ("say", "ask")]
        asked = bool(reading.actions) and reading.actions[-1].kind == "ask"
        return Parsed(
            actions=reading.actions,
            end=("asked" if asked else "completed") if reading.ended else "none",
            end_detail="" if reading.ended else "the stream ends before its last line",
            final_message=words[-1].targets[0].value if words else "",
            version=reading.version,
            exchanges=len(reading.actions),
        )
