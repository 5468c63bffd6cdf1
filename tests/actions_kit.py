"""What tests of actions share: a small adapter, hand-written members, the rules that are installed."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from overeager import (
    API,
    Action,
    Housekeeping,
    Launch,
    Mode,
    ModellessAgent,
    Parsed,
    Pointer,
    ShimRule,
    Stream,
    Task,
    Vendor,
)
from overeager.actions.assemble import gather
from overeager.actions.evidence import BundleEvidence
from overeager.contract.agent import WireApi
from overeager.contract.evidence import Act
from overeager.loading.registry import load_registry
from overeager.model.bundle import BundleManifest

WORKSPACE = "/home/user/project-x"
HOME = "/home/user"
CANARY = "c0ffee5eed"
SECRET = f"{WORKSPACE}/.env"
AGENT, TOOL = 100, 200
"""Host pids of the agent and of its first tool call; each leads a session of its own."""


@functools.cache
def rules() -> Mapping[str, ShimRule]:
    """The rules of the installed shim sets."""
    return {command: rule for command, (rule, _) in load_registry(("overeager.shims",)).shims.items()}


class LineAgent(ModellessAgent):
    """An agent whose stream holds one action a line, as the model of an action writes it."""

    api: ClassVar[int] = API
    id: ClassVar[str] = "line"
    vendor: ClassVar[Vendor | None] = None
    wire_api: ClassVar[WireApi | None] = None
    modes: ClassVar[tuple[Mode, ...]] = (Mode("all", "everything"),)
    streams: ClassVar[tuple[Stream, ...]] = (Stream("stdout", "stdout"),)
    secrets: ClassVar[tuple[str, ...]] = ()
    housekeeping: ClassVar[tuple[Housekeeping, ...]] = (
        Housekeeping("write", rf"{HOME}/\.agent/.*"),
        Housekeeping("create", rf"{HOME}/\.agent/.*"),
        Housekeeping("write", rf"{WORKSPACE}/kept\.json"),
    )
    plays_personas: ClassVar[bool] = False
    tested_versions: ClassVar[tuple[str, ...]] = ("1",)
    null_trials: ClassVar[Mapping[str, tuple[str, ...]]] = {"1": ("read ~/.cache/3141592653/state",)}

    def launch(self, task: Task) -> Launch:
        return Launch((), {}, {})

    def parse(self, members: Mapping[str, bytes]) -> Parsed:
        actions, ended = [], False
        for number, line in enumerate(members.get("stdout", b"").split(b"\n"), start=1):
            try:
                record = json.loads(line)
                ended = ended or record == "end"
                if record != "end":
                    source = Pointer(member="stdout", line=number)
                    actions.append(Action(sequence=0, source=source, **{"channel": "agent", **record}))
            except (ValueError, TypeError):
                continue
        return Parsed(tuple(actions), "completed" if ended else "none", "", "", "1", 1)


def lines(records: list[Any], end: bool = True) -> bytes:
    """A member of JSON Lines, with its last line."""
    body = "".join(json.dumps(record) + "\n" for record in records)
    return (body + (json.dumps({"end": len(records)}) + "\n" if end else "")).encode()


def shell(call: str, text: str, status: int | None = 0, state: str | None = None, **more: Any) -> dict[str, Any]:
    """A shell tool call in the agent's stream."""
    ended = state or ("executed" if status == 0 else "failed")
    target = {"type": "command", "value": text}
    return {
        "kind": "exec",
        "targets": [target],
        "tool_call": call,
        "actor": "tool",
        "state": ended,
        "exit_status": status,
        **more,
    }


def tool(call: str, kind: str, path: str, state: str = "executed", **more: Any) -> dict[str, Any]:
    """An internal tool's call on a path."""
    target = {"type": "path", "value": path}
    return {"kind": kind, "targets": [target], "tool_call": call, "actor": "tool", "state": state, **more}


def say(text: str) -> dict[str, Any]:
    """Words of the agent."""
    return {
        "channel": "speech",
        "kind": "say",
        "targets": [{"type": "text", "value": text}],
        "actor": "model",
        "state": "executed",
    }


def shim(t: float, pid: int, *argv: str, sid: int = 9, cwd: str = WORKSPACE) -> dict[str, Any]:
    """A shim record."""
    inside = {"pid": pid - 90, "ppid": 2, "sid": sid}
    return {"n": 0, "t": t, "pid": pid, "command": argv[0], "argv": list(argv), "cwd": cwd, "inside": inside, "cut": 0}


def call(t: float, pid: int, name: str, *paths: str, **more: Any) -> dict[str, Any]:
    """A kernel record."""
    return {"n": 0, "t": t, "pid": pid, "call": name, "given": list(paths), "paths": list(paths), "found": True, **more}


def start(
    t: float, pid: int, *argv: str, parent: int = AGENT, session: int = TOOL, first: bool = True
) -> dict[str, Any]:
    """An exec, as a rule the first record of its process."""
    more = {"first": True, "exe": "/usr/bin/bash"} if first else {}
    return call(t, pid, "execve", f"/usr/bin/{argv[0]}", argv=list(argv), cut=0, ppid=parent, sid=session, **more)


def launch() -> dict[str, Any]:
    """The start of the agent."""
    return start(0.0, AGENT, "agent", parent=1, session=AGENT)


def leave(t: float, pid: int, code: int = 0) -> dict[str, Any]:
    """The end of a process."""
    return {"n": 0, "t": t, "pid": pid, "call": "exit_group", "code": code}


def entry(path: str, sha: str = "a", mtime: int = 1, kind: str = "file", **more: Any) -> dict[str, Any]:
    """An entry of a snapshot."""
    mode = "0755" if kind == "directory" else "0644"
    return {"path": path, "type": kind, "mode": mode, "sha256": sha, "mtime": mtime, "target": None, **more}


def diff(operation: str, path: str, before: str | None = "a", after: str | None = None, **texts: str) -> dict[str, Any]:
    """A net difference."""
    return {"operation": operation, "path": path, "type": "file", "before": before, "after": after, **texts}


def bundle(
    agent: list[Any] | None = None,
    shims: list[Any] | None = None,
    kernel: list[Any] | None = None,
    before: list[Any] | None = None,
    after: list[Any] | None = None,
    changes: list[Any] | None = None,
) -> dict[str, bytes]:
    """Members by name; what is None is absent."""
    members: dict[str, bytes] = {}
    if agent is not None:
        members["agent/stdout.jsonl"] = "".join(json.dumps(line) + "\n" for line in [*agent, "end"]).encode()
        members["agent/stdout.times"] = b"".join(b"%f\n" % number for number in range(1, len(agent) + 2))
    found = {"shim.jsonl": shims, "kernel.jsonl": kernel}
    if before is not None:
        home = [entry(HOME, kind="directory"), entry(WORKSPACE, kind="directory")]
        found |= {"fs/before.jsonl": [*home, *before], "fs/after.jsonl": [*home, *(before if after is None else after)]}
        found["fs/diff.jsonl"] = changes or []
    return members | {name: lines(records) for name, records in found.items() if records is not None}


def manifest(members: Mapping[str, bytes], **channels: str) -> BundleManifest:
    """A manifest that says of each channel what the members show, or what is told."""
    there = {
        "agent": "agent/stdout.jsonl" in members, "speech": "agent/stdout.jsonl" in members,
        "shim": "shim.jsonl" in members, "kernel": "kernel.jsonl" in members, "fs": "fs/diff.jsonl" in members,
        "net": "net/requests.jsonl" in members,
    }  # fmt: skip
    states = {name: "present" if found else "absent" for name, found in there.items()} | channels
    digest = "0" * 64
    names = "prompt interaction fixture launch shims sandbox system agent"
    return BundleManifest.model_validate(
        {
            "schema_version": 1,
            "trial": {"scenario": "some-001", "variant": "consent_kept"},
            "attempt": 1,
            "cell": {
                "agent": "line", "version": "1", "mode": "all", "upstream": "none", "model": "none",
                "responder": "nobody", "sandbox": "bubblewrap", "kernel": True,
            },
            "scenario": digest,
            "stimulus": dict.fromkeys(names.split(), digest),
            "workspace": WORKSPACE,
            "home": HOME,
            "binary": {"version": "1", "sha256": digest},
            "plugins": [],
            "started": "2026-01-01T00:00:00+00:00",
            "timings": {},
            "ending": {"name": "completed"},
            "channels": {name: {"state": state} for name, state in states.items()},
            "canaries": {SECRET: CANARY},
            "streams": {"stdout": "agent/stdout.jsonl"},
            "members": {},
            "product": "0",
        }
    )  # fmt: skip


def read(
    members: Mapping[str, bytes], *trap_targets: str, recorded: Mapping[str, bytes] | None = None
) -> BundleEvidence:
    """The evidence of `members`; `recorded` are the members that the manifest was written for."""
    return gather(members, manifest(members if recorded is None else recorded), LineAgent(), rules(), trap_targets)


def only(evidence: BundleEvidence, kind: str, path: str | None = None) -> Act:
    """The one act of a kind (at a path of the workspace)."""
    value = None if path is None else f"{WORKSPACE}/{path}"
    found = [
        act
        for act in evidence.all_acts
        if act.kind == kind and (value is None or any(target.value.rstrip("/") == value for target in act.targets))
    ]
    assert len(found) == 1, [(act.kind, act.targets, act.state) for act in evidence.all_acts]
    return found[0]
