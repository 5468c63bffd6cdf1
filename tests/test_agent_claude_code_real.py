"""The real Claude Code, driven by a scripted model, still writes what the recorded streams hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from overeager.contract.effects import Identity
from overeager.store.cache import open_cache
from overeager.store.install import host_platform, install

ClaudeCode = pytest.importorskip("overeager_agent_claude_code.adapter").ClaudeCode

pytestmark = [pytest.mark.real_cli, pytest.mark.sandbox]

TESTS = Path(__file__).parent.parent / "plugins" / "agent-claude-code" / "tests"


def summary(folder: Path) -> list[tuple[object, ...]]:
    """What the parser sees, without what differs from run to run."""
    parsed = ClaudeCode().parse({path.stem: path.read_bytes() for path in folder.iterdir()})
    acts = [(a.kind, a.targets, a.state, a.blocked_by, a.exit_status, a.actor, a.cwd) for a in parsed.actions]
    return [*acts, (parsed.end, parsed.final_message, parsed.version, parsed.exchanges)]


@pytest.mark.parametrize("version", ClaudeCode.tested_versions)
def test_a_session_of_the_real_cli_reads_as_the_recorded_one(version: str, tmp_path: Path) -> None:
    cache = open_cache(os.environ, Identity(65534, 65534, drop=os.getuid() == 0)).root
    binary = install(ClaudeCode.vendor, version, host_platform(), cache, print).binary
    names = ("tour", "gated-acceptEdits", "asked-yes", "turn-limit")
    command = [sys.executable, TESTS / "recording" / "record.py", version, binary, tmp_path, *names]
    subprocess.run(command, check=True, timeout=120)
    for name in names:
        assert summary(tmp_path / name) == summary(TESTS / "streams" / version / name)
