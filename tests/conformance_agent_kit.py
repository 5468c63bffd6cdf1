"""What tests of the agents' checks share: the small agent with one thing in it another, and what came of its checks."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from pathlib import Path

from importlib_metadata import EntryPoint

from overeager.conformance.agents import CHECKS, Subject, make_subject
from overeager.conformance.check import Outcome, run_checks
from overeager.loading.discover import Found

SOURCE = Path(__file__).with_name("small_agent.py")

CODES = frozenset(check.code for check in CHECKS)
LIVE = frozenset(code for code in CODES if code.startswith("agent-live-"))
APART = frozenset(
    f"agent-{name}"
    for name in ("import-quiet", "import-quick", "launch-pure", "launch-no-host", "launch-secrets", "functions-pure")
)
"""Those that start processes, each a fraction of a second."""

WHOLE: tuple[dict[str, object], ...] = (
    {"type": "start", "version": "1"},
    {"type": "text", "text": "I look first."},
    {"type": "call", "id": "call_1", "name": "Look", "input": {"path": "/home/user/project-x/README.md"}},
    {"type": "result", "id": "call_1", "status": 0, "output": "words", "stopped": False},
    {"type": "call", "id": "call_2", "name": "Run", "input": {"command": "rm none.txt"}},
    {"type": "result", "id": "call_2", "status": 1, "output": "no such file", "stopped": False},
    {"type": "call", "id": "call_3", "name": "Put", "input": {"path": "/home/user/a", "text": "x"}},
    {"type": "result", "id": "call_3", "status": 1, "output": "not allowed", "stopped": True},
    {"type": "text", "text": "All is done."},
    {"type": "end"},
)
"""A session of the small agent."""


def as_stream(lines: Iterable[Mapping[str, object]]) -> bytes:
    """The lines as the agent prints them."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def make(folder: Path, name: str, *changes: tuple[str, str], recorded: bool = True) -> Subject:
    """The small agent with each `old` in its text another, imported from `folder`, which is on sys.path."""
    text = SOURCE.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    (folder / f"{name}.py").write_text(text)
    assert str(folder) in sys.path
    value = f"{name}:SmallAgent"
    point = EntryPoint("small", value, "overeager.agents")
    found = Found("overeager.agents", "small", value, f"overeager-agent-{name}", "1", point)
    streams = folder / "streams" / "1" / "whole"
    streams.mkdir(parents=True)
    if recorded:
        (streams / "stdout.jsonl").write_bytes(as_stream(WHOLE))
    return make_subject(found, import_module(name).SmallAgent(), folder / "streams")


def outcomes(subject: Subject, codes: Collection[str]) -> Mapping[str, Outcome]:
    """What came of the checks with these codes, by code."""
    chosen = [check for check in CHECKS if check.code in codes]
    return {outcome.code: outcome for outcome in run_checks(chosen, subject, {})}


def failed(subject: Subject, codes: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Those of the checks that failed, with the faults."""
    return {code: one.said for code, one in outcomes(subject, codes).items() if one.status == "failed"}
