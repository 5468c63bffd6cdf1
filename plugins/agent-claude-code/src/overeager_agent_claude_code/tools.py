"""The tool table: how a call of Claude Code reads as an action, and by which call a persona's step is done."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from overeager import JsonObject, Step, Target, ToolUse, objects_of, text_of

ToolKind: TypeAlias = Literal[
    "read", "list", "search", "create", "write", "edit", "exec", "fetch", "signal", "say", "ask", "unknown"
]
TargetType: TypeAlias = Literal["path", "command", "url", "text", "other"]


class Place(NamedTuple):
    """Where a persona works."""

    workspace: str
    home: str

    def absolute(self, path: str) -> str:
        """A scenario's path (`src/app.py`, `~/notes`) as an absolute one."""
        base, rest = (self.home, path[2:]) if path.startswith("~/") else (self.workspace, path)
        return posixpath.normpath(posixpath.join(base, rest))


class Tool(NamedTuple):
    """One row: a tool under its names, newest first."""

    names: tuple[str, ...]
    kind: ToolKind
    target: TargetType
    argument: str
    """The argument that names the target; a path that is left out is the working directory."""
    detail: str = ""
    """The argument that is worth a word beside the target."""
    step: str = ""
    """The kind of step that it does."""
    fill: Callable[[Step, Place], dict[str, Any]] | None = None
    """The arguments for such a step."""


class Doing(NamedTuple):
    """A tool call in the words of an action."""

    kind: ToolKind
    targets: tuple[Target, ...]
    detail: str


def _shell(step: Step, place: Place) -> dict[str, Any]:
    command = step.shell if step.shell is not None else _as_command(step, place)
    return {"command": command, "description": "Run a command"}


def _read(step: Step, place: Place) -> dict[str, Any]:
    return {"file_path": place.absolute(step.read or "")}


def _write(step: Step, place: Place) -> dict[str, Any]:
    assert step.write is not None, "a write step"
    return {"file_path": place.absolute(step.write.path), "content": step.write.content}


def _edit(step: Step, place: Place) -> dict[str, Any]:
    assert step.edit is not None, "an edit step"
    path = place.absolute(step.edit.path)
    return {"file_path": path, "old_string": step.edit.old, "new_string": step.edit.new}


def _search(step: Step, place: Place) -> dict[str, Any]:
    assert step.search is not None, "a search step"
    pattern, path = _extended(step.search.pattern), place.absolute(step.search.path)
    return {"pattern": pattern, "path": path, "output_mode": "content"}


TOOLS: tuple[Tool, ...] = (
    Tool(("Bash",), "exec", "command", "command", step="shell", fill=_shell),
    Tool(("Read",), "read", "path", "file_path", step="read", fill=_read),
    Tool(("Write",), "write", "path", "file_path", step="write", fill=_write),
    Tool(("Edit", "MultiEdit"), "edit", "path", "file_path", step="edit", fill=_edit),
    Tool(("NotebookEdit",), "edit", "path", "notebook_path"),
    Tool(("NotebookRead",), "read", "path", "notebook_path"),
    Tool(("Grep",), "search", "path", "path", "pattern", step="search", fill=_search),
    Tool(("Glob", "LS"), "list", "path", "path", "pattern"),
    Tool(("WebFetch",), "fetch", "url", "url"),
    Tool(("WebSearch",), "fetch", "text", "query"),
    Tool(("TaskStop", "KillShell", "KillBash"), "signal", "other", "shell_id"),
    Tool(("Agent", "Task"), "say", "text", "prompt"),
    Tool(("TaskCreate",), "say", "text", "description"),
    Tool(("ExitPlanMode",), "say", "text", "plan"),
    Tool(("TodoWrite",), "say", "text", "todos"),
    Tool(("AskUserQuestion",), "ask", "text", "questions"),
)
"""Known tools; what is not here is an action of kind `unknown`."""

_COMMANDS: Mapping[str, str] = {"read": "cat --", "search": "grep -rn -e", "fetch": "curl -sS"}
"""How a shell does a step that no offered tool does. Always so for `fetch`: WebFetch asks its vendor first."""


def read_call(name: str, arguments: JsonObject, cwd: str, created: bool) -> Doing:
    """The action that the call `name` means, paths made absolute from `cwd`."""
    row = next((row for row in TOOLS if name in row.names), None)
    if row is None:
        return Doing("unknown", (Target(type="other", value=_dump(arguments)),), name)
    value = _words(arguments.get(row.argument))
    if row.target == "path":
        value = posixpath.normpath(posixpath.join(cwd, value)) if value or cwd else value
    detail = text_of(arguments.get(row.detail)) if row.detail else name
    return Doing(_kind(row, arguments, created), (Target(type=row.target, value=value),), detail)


def tool_kinds() -> Mapping[str, tuple[ToolKind, ...]]:
    """As which kinds a call of each tool may read: what writes a file may make it."""
    return {
        name: (row.kind, "create") if row.kind in ("write", "edit") else (row.kind,)
        for row in TOOLS
        for name in row.names
    }


def encode_step(step: Step, offered_tools: Collection[str], place: Place) -> ToolUse | None:
    """The call that does `step` with what is offered; None when nothing can.

    An edit, and a write over a file that is there, has a Read before it: 2.1.117 refuses it otherwise, and one
    rule for all versions keeps their evidence alike.
    """
    row = next((row for row in TOOLS if row.step == step.kind and row.names[0] in offered_tools), None)
    if row is None and step.kind in _COMMANDS and "Bash" in offered_tools:
        row = TOOLS[0]
    if row is None or row.fill is None:
        return None
    arguments = row.fill(step, place)
    first = "Read" in offered_tools and _needs_reading(step, place)
    before = (ToolUse("Read", {"file_path": arguments["file_path"]}),) if first else ()
    return ToolUse(row.names[0], arguments, before)


def _needs_reading(step: Step, place: Place) -> bool:
    if step.write is None:
        return step.edit is not None
    there = step.expect.modified if step.expect else ()
    return place.absolute(step.write.path) in {place.absolute(path) for path in there}


def _kind(row: Tool, arguments: JsonObject, created: bool) -> ToolKind:
    creates = created or (row.kind == "edit" and arguments.get("old_string") == "")
    return "create" if creates and row.kind in ("write", "edit") else row.kind


def _dump(arguments: JsonObject) -> str:
    try:
        return json.dumps(arguments, sort_keys=True)
    except RecursionError:  # read near the limit of nesting
        return ""


def _words(value: object) -> str:
    """The words of an argument: a text, or those of each item of a list (to-dos, questions)."""
    if isinstance(value, list):
        return "\n".join(text_of(item.get("content") or item.get("question")) for item in objects_of(value))
    return text_of(value)


def _as_command(step: Step, place: Place) -> str:
    words: list[str]
    if step.search is not None:
        words = [step.search.pattern, "--", place.absolute(step.search.path)]
    else:
        words = [place.absolute(step.read)] if step.read is not None else [step.fetch or ""]
    return f"{_COMMANDS[step.kind]} {shlex.join(words)}"


_BASIC = re.compile(r"\[\^?\]?[^]]*\]|\\(.)|[(){}|+?]", re.S)
"""In a basic regular expression: a bracket expression, an escaped character, or one that is plain only there."""


def _extended(pattern: str) -> str:
    """A basic regular expression in the syntax of the Grep tool, where `(`, `|` and the like need no escape."""

    def swap(match: re.Match[str]) -> str:
        found = match[0]
        if found.startswith("["):
            return found
        if found.startswith("\\"):
            return match[1] if match[1] in "(){}|+?" else found
        return "\\" + found

    return _BASIC.sub(swap, pattern)
