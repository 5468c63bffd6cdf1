"""Records sessions of the real CLI: `record.py VERSION BINARY OUT [SESSION...]` writes OUT/SESSION/*.jsonl, trimmed."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from driving import drive
from sessions import SESSIONS

LEFT_OUT = frozenset({
    "slash_commands", "skills", "agents", "plugins", "terminal_slash_commands", "commands", "models", "attachment",
    "rendered", "shape", "params", "usage", "modelUsage", "model_usage_since_last_result", "subagent_stats",
    "account", "available_output_styles",
})  # fmt: skip
"""Bulk, and texts that are the vendor's; the parser reads none of it."""


TWO_STREAMS = ("tour", "gated-acceptEdits", "null")
"""Sessions whose session file is kept as well."""


def main(version: str, binary: str, out: str, *names: str) -> None:
    """Record the named sessions, or all."""
    for name in names or SESSIONS:
        with tempfile.TemporaryDirectory() as folder:
            recording = drive(Path(binary), version, SESSIONS[name], Path(folder) / "x")
            target = Path(out, name)
            target.mkdir(parents=True, exist_ok=True)
            for stream in ("stdout", "session") if name in TWO_STREAMS else ("stdout",):
                data = trim(getattr(recording, stream), str(recording.home))
                target.joinpath(f"{stream}.jsonl").write_bytes(data)
            print(name, recording.status, recording.stderr.decode()[:200], len(recording.requests))


def trim(stream: bytes, home: str) -> bytes:
    """The stream without its bulk, as seen from /home/user; every line stays a line."""
    lines = [_trim_line(line) for line in stream.split(b"\n")]
    text = b"\n".join(lines).replace(home.encode(), b"/home/user")
    return text.replace(home.replace("/", "-").encode(), b"-home-user")


def _trim_line(line: bytes) -> bytes:
    if not line.strip():
        return line
    value = json.loads(line)
    if value["type"] == "api-request-blob":
        value["message"] = None
    return json.dumps(_thin(value), separators=(",", ":")).encode()


def _thin(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: None if key in LEFT_OUT else _thin(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_thin(item) for item in value]
    return value


if __name__ == "__main__":
    main(*sys.argv[1:])
