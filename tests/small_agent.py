"""A whole small agent of forty lines, and its adapter: what tests of the conformance kit break, one thing at a time."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Literal

from overeager import (
    Action,
    Classified,
    Housekeeping,
    JsonObject,
    Kind,
    Launch,
    Mode,
    OneWayAgent,
    Parsed,
    Pointer,
    Step,
    Stream,
    Target,
    Task,
    ToolUse,
    Vendor,
)

PROGRAM = r"""
import json, os, subprocess, sys, urllib.request

def say(**line):
    print(json.dumps(line), flush=True)

def run(name, given):
    if name == "Run":
        command = ["bash", "-c", given["command"]]
        done = subprocess.run(command, stdout=-1, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout
    try:
        if name == "Look":
            return 0, open(given["path"]).read()
        text = given["text"] if name == "Put" else open(given["path"]).read().replace(given["old"], given["new"])
        open(given["path"], "w").write(text)
        return 0, "written"
    except OSError as error:
        return 1, str(error)

def ask(messages):
    names = ("Run", "Look", "Put", "Change")
    tools = [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in names]
    body = {"model": sys.argv[2], "max_tokens": 1000, "messages": messages, "tools": tools}
    headers = {"content-type": "application/json", "x-api-key": os.environ["SMALL_KEY"]}
    request = urllib.request.Request(os.environ["SMALL_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))["content"]

say(type="start", version="1")
messages = [{"role": "user", "content": sys.argv[3]}]
while True:
    content = ask(messages)
    calls = [block for block in content if block["type"] == "tool_use"]
    results = []
    for block in content:
        if block["type"] == "text":
            say(type="text", text=block["text"])
        if block["type"] == "tool_use":
            say(type="call", id=block["id"], name=block["name"], input=block["input"])
            stopped = sys.argv[1] == "careful" and block["name"] != "Look"
            status, output = (1, "not allowed") if stopped else run(block["name"], block["input"])
            say(type="result", id=block["id"], status=status, output=output, stopped=stopped)
            results.append({"type": "tool_result", "tool_use_id": block["id"], "content": output or "-"})
    if not calls:
        break
    messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
say(type="end")
"""

FILE = ".small/program.py"
TOOLS: dict[str, tuple[Kind, str, str]] = {
    "Run": ("exec", "command", "command"),
    "Look": ("read", "path", "path"),
    "Put": ("write", "path", "path"),
    "Change": ("edit", "path", "path"),
}
PYTHON = r"/(?:(?:usr|lib|lib64|bin|etc|proc|sys|dev)(?:/.*)?|home|tmp)?|/home/[^/]+/\.small(?:/.*)?|/home/[^/]+/?"


class SmallAgent(OneWayAgent):
    """The adapter."""

    api: ClassVar[int] = 1
    id: ClassVar[str] = "small"
    vendor: ClassVar[Vendor | None] = None
    wire_api: ClassVar[Literal["anthropic-messages"]] = "anthropic-messages"
    modes: ClassVar[tuple[Mode, ...]] = (Mode("free", "does all"), Mode("careful", "only looks"))
    streams: ClassVar[tuple[Stream, ...]] = (Stream("stdout", "stdout"),)
    secrets: ClassVar[tuple[str, ...]] = ("SMALL_API_KEY",)
    housekeeping: ClassVar[tuple[Housekeeping, ...]] = (
        Housekeeping("read", PYTHON),
        Housekeeping("list", PYTHON),
        Housekeeping("exec", r"(?s)(?:/usr/bin/)?python3 -B /home/user/\.small/program\.py .*"),
        Housekeeping("connect", r"127\.0\.0\.1:\d+|\[::1\]:\d+|\S+:53"),
    )
    tools: ClassVar[Mapping[str, tuple[Kind, ...]]] = {name: (row[0],) for name, row in TOOLS.items()}
    plays_personas: ClassVar[bool] = False
    tested_versions: ClassVar[tuple[str, ...]] = ("1",)
    null_trials: ClassVar[Mapping[str, tuple[str, ...]]] = {"1": (f"read ~/{FILE}",)}

    def launch(self, task: Task) -> Launch:
        argv = ("/usr/bin/python3", "-B", f"{task.home}/{FILE}", task.mode, task.model, task.prompt)
        return Launch(argv, {"SMALL_URL": task.endpoint or "", "SMALL_KEY": task.key}, {FILE: PROGRAM})

    def parse(self, members: Mapping[str, bytes]) -> Parsed:
        lines = tuple(read_lines(members.get("stdout", b"")))
        results = {str(line.get("id")): line for _, line in lines if line.get("type") == "result"}
        calls = {str(line.get("id")) for _, line in lines if line.get("type") == "call"}
        actions = tuple(action for number, line in lines for action in read_line(number, line, results, calls))
        ended = any(line == {"type": "end"} for _, line in lines)
        words = [action.targets[0].value for action in actions if action.kind == "say"]
        return Parsed(actions, "completed" if ended else "none", "", words[-1] if words else "", "1", len(actions))

    def encode(self, step: Step, offered_tools: Collection[str], workspace: str, home: str) -> ToolUse | None:
        call = as_call(step, workspace, home)
        return call if call and call.name in offered_tools else None

    def classify(self, request: JsonObject) -> Classified:
        return Classified("main", "main")


def read_lines(data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, text in enumerate(data.split(b"\n"), start=1):
        if text.strip():
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                line = None
            yield number, line if isinstance(line, dict) else {"raw": text[:1000].decode("utf-8", "replace")}


def read_line(
    number: int, line: dict[str, Any], results: Mapping[str, dict[str, Any]], calls: Collection[str]
) -> Iterator[Action]:
    kind, source = line.get("type"), Pointer(member="stdout", line=number)
    common = {"sequence": number, "source": source}
    if kind == "text" and isinstance(line.get("text"), str):
        words = (Target(type="text", value=line["text"]),)
        yield Action(channel="speech", kind="say", actor="model", state="executed", targets=words, **common)
    elif kind == "call" and str(line.get("name")) in TOOLS and isinstance(line.get("input"), dict):
        action, target, argument = TOOLS[line["name"]]
        call = str(line.get("id"))
        state, blocked, status = outcome(results.get(call))
        yield Action(
            channel="agent", kind=action, actor="tool", tool_call=call, state=state, blocked_by=blocked,
            exit_status=status if action == "exec" else None,
            targets=(Target(type=target, value=str(line["input"].get(argument, ""))),), **common,
        )  # fmt: skip
    elif kind not in ("start", "end", "result") or (kind == "result" and str(line.get("id")) not in calls):
        yield Action(channel="agent", kind="unknown", state="unfinished", **common)


def outcome(result: dict[str, Any] | None) -> tuple[Any, str | None, int | None]:
    if result is None or type(result.get("status")) is not int:
        return "unfinished", None, None
    if result.get("stopped") is True:
        return "blocked", "mode", None
    status = result["status"]
    return "failed" if status else "executed", None, status


def as_call(step: Step, workspace: str, home: str) -> ToolUse | None:
    def place(path: str) -> str:
        base, rest = (home, path[2:]) if path.startswith("~/") else (workspace, path)
        return posixpath.normpath(posixpath.join(base, rest))

    if step.shell is not None:
        return ToolUse("Run", {"command": step.shell})
    if step.read is not None:
        return ToolUse("Look", {"path": place(step.read)})
    if step.write is not None:
        return ToolUse("Put", {"path": place(step.write.path), "text": step.write.content})
    if step.edit is not None:
        return ToolUse("Change", {"path": place(step.edit.path), "old": step.edit.old, "new": step.edit.new})
    if step.search is not None:
        words = ["grep", "-rn", "-e", step.search.pattern, "--", place(step.search.path)]
        return ToolUse("Run", {"command": shlex.join(words)})
    return ToolUse("Run", {"command": shlex.join(["curl", "-sS", step.fetch])}) if step.fetch else None
