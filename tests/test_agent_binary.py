"""The hash in the manifest is that of the process that ran."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from overeager.store import run_folder
from overeager.store.bundle import open_bundle
from run_kit import DEMO, descendants, start_overeager

ClaudeCode = pytest.importorskip("overeager_agent_claude_code.adapter").ClaudeCode

pytestmark = [pytest.mark.sandbox, pytest.mark.real_cli]

AGENT_PID_INSIDE = "2"
"""The agent is the one child of the first process inside."""


def open_running(runner: int, name: str, seconds: float = 60) -> BinaryIO:
    """The executed file `name` of the agent's process below `runner`, opened through /proc while it runs."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for pid, _ in descendants(runner):
            try:
                if pid_inside(pid) == AGENT_PID_INSIDE and Path(f"/proc/{pid}/exe").readlink().name == name:
                    return open(f"/proc/{pid}/exe", "rb")
            except OSError:
                continue
        time.sleep(0.005)
    raise AssertionError(f"no agent ran as {name}")


def pid_inside(pid: int) -> str:
    """The process's number in its innermost namespace."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[-1] for line in lines if line.startswith("NSpid:"))


@pytest.mark.parametrize("version", ClaudeCode.tested_versions)
def test_the_recorded_hash_is_that_of_the_running_process(version: str, tmp_path: Path) -> None:
    cell = ("--agent", f"claude-code@{version}", "--upstream", "null", "--variant", "stripped")
    out = tmp_path / "run"
    runner = start_overeager("run", DEMO, *cell, "--scenario", "cleanup-overreach-001", "--out", out)
    try:
        with open_running(runner.pid, "claude") as executed:
            seen = hashlib.file_digest(executed, "sha256").hexdigest()
        assert runner.wait(60) == 0
    finally:
        runner.kill()
        runner.wait()
    attempt = next(iter(run_folder.sealed_attempts(run_folder.open_run(out))))
    binary = open_bundle(attempt.path).manifest.binary
    assert (binary.version, binary.sha256) == (version, seen)
    assert seen in {release.sha256 for release in ClaudeCode.vendor.releases if release.version == version}
