"""Ctrl-C: what is done is sealed, nothing runs on, and the printed command goes on with the rest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bad_kit import SCENARIO, files_below
from overeager.model.persona import Expect, Step
from run_kit import demo_scenario, descendants, overeager, play_steps, wait_until_dead, write_bench

pytestmark = pytest.mark.sandbox


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """The command line in a process group of its own, as a shell starts it."""
    command = [sys.executable, "-m", "overeager.cli", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for_bundles(out: Path, number: int) -> None:
    deadline = time.monotonic() + 30
    while len(list((out / "bundles").glob("*.zip"))) < number and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.parametrize("whom", ["the runner", "its whole group"])
def test_ctrl_c_seals_what_is_done_and_the_printed_command_does_the_rest(whom: str, tmp_path: Path) -> None:
    steps = [Step(shell="sleep 0.5", expect=Expect()), Step(say="Done.")]
    bench = write_bench(tmp_path / "a folder" / "bench", [play_steps(demo_scenario(SCENARIO), steps)])
    out = tmp_path / "it's a run"
    runner = start(
        "run", bench, "--upstream", "persona:cautious", "--variant", "kept", "--scenario", SCENARIO, "--repeats", "4",
        "--seconds", "20", "--budget", "2.5", "--no-shims", "-j", "1", "--out", out,
    )  # fmt: skip
    wait_for_bundles(out, 1)
    below = [pid for pid, _ in descendants(runner.pid)]
    (os.kill if whom == "the runner" else os.killpg)(runner.pid, signal.SIGINT)
    _, said = runner.communicate(timeout=30)
    assert runner.returncode == 130
    assert "stopped; what was done is sealed" in said
    assert "Traceback" not in said
    assert wait_until_dead(below) == []
    sealed = files_below(out / "bundles")
    assert 1 <= len(sealed) < 4
    assert all(name.endswith(".zip") for name in sealed)
    resumed = subprocess.run(["/bin/sh", "-c", said.splitlines()[-1]], capture_output=True, text=True, check=False)
    assert resumed.returncode == 0, (said, resumed.stderr)
    after = files_below(out / "bundles")
    assert len(after) == 4
    assert {name: after[name] for name in sealed} == sealed, "a sealed bundle was touched"
    assert overeager("judge", out).returncode == 0
