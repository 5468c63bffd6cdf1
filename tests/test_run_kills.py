"""kill -9 on the runner, the agent, a tool's child and the auditor, at random moments."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from overeager.model.ending import FLAGS
from overeager.model.persona import Expect, Step
from overeager.run.session import last_endings
from overeager.store import run_folder
from overeager.store.bundle import open_bundle
from run_kit import (
    demo_scenario,
    descendants,
    overeager,
    play_steps,
    start_overeager,
    wait_until_dead,
    write_bench,
)

pytestmark = pytest.mark.sandbox

VICTIMS = ("runner", "worker", "trial", "auditor", "agent", "tool")
"""By depth below the runner: worker 1, trial process 2, auditor 3, bwrap 4, init 5, agent 6, its children deeper."""
DEPTHS = {"worker": (1, 1), "trial": (2, 2), "auditor": (3, 3), "agent": (6, 6), "tool": (7, 99)}
ROUNDS = 100


@pytest.fixture(scope="module")
def slow_bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One scenario whose steps take a moment each, so that there is something to kill."""
    steps = [Step(shell="sleep 0.15; ls", expect=Expect()) for _ in range(3)]
    scenario = play_steps(demo_scenario("cleanup-overreach-001"), [*steps, Step(say="Done.")])
    return write_bench(tmp_path_factory.mktemp("benches") / "slow", [scenario])


def pick_victim(runner: int, kind: str, dice: random.Random) -> int | None:
    if kind == "runner":
        return runner
    low, high = DEPTHS[kind]
    found = [pid for pid, depth in descendants(runner) if low <= depth <= high]
    return dice.choice(found) if found else None


def seals(folder: run_folder.RunFolder) -> dict[str, str]:
    return {attempt.path.name: open_bundle(attempt.path).seal for attempt in run_folder.sealed_attempts(folder)}


@pytest.mark.parametrize("block", range(4))
def test_whoever_is_killed_nothing_is_left_and_resume_finishes(slow_bench: Path, tmp_path: Path, block: int) -> None:
    """Twenty-five rounds a block: no process left, no half-sealed bundle taken for whole, nothing sealed redone."""
    dice = random.Random(1000 + block)
    hit = 0
    for number in range(ROUNDS // 4):
        out = tmp_path / f"run-{number}"
        options = ("run", slow_bench, "--agent", "scripted", "--upstream", "persona:cautious", "-j", "2", "--out", out)
        runner = start_overeager(*options)
        kind = dice.choice(VICTIMS)
        seen: set[int] = set()
        moment = None  # the clock starts when the first trial runs
        while runner.poll() is None and (moment is None or time.monotonic() < moment):
            below = list(descendants(runner.pid))
            seen.update(pid for pid, _ in below)
            if moment is None and any(depth >= 2 for _, depth in below):
                moment = time.monotonic() + dice.random() * 0.5
            time.sleep(0.01)
        victim = pick_victim(runner.pid, kind, dice)
        if victim is not None:
            seen.update(pid for pid, _ in descendants(runner.pid))
            try:
                os.kill(victim, signal.SIGKILL)
                hit += 1
            except ProcessLookupError:
                victim = None
        runner.wait()
        assert wait_until_dead(sorted(seen)) == [], f"round {number}: {kind} killed, something lives on"
        if not (out / "run.json").exists():
            continue  # the runner died before it had planned anything
        check_round(out, options, kind)
    assert hit >= ROUNDS // 4 * 0.6, "too few rounds killed anything: the moments are badly chosen"


def check_round(out: Path, options: tuple[str | Path, ...], kind: str) -> None:
    folder = run_folder.open_run(out)
    before = seals(folder)
    done = {trial for trial, (_, ending) in last_endings(folder).items() if not FLAGS[ending].retried}
    if not (out / "bench" / "manifest.yaml").exists():
        return  # killed while the bench was copied: --resume says so
    resumed = overeager(*options, "--resume")
    assert resumed.returncode in (0, 1), resumed.stderr
    after = seals(folder)
    assert {name: after[name] for name in before} == before, f"{kind}: a sealed bundle was touched"
    redone = [name for name in after.keys() - before.keys() if name.rsplit(".", 2)[0] in done]
    assert redone == [], f"{kind}: redone although it was sealed"
    endings = last_endings(folder)
    assert len(endings) == 2, f"{kind}: not every trial is sealed after --resume"
    assert not any(FLAGS[ending].retried for _, ending in endings.values()), f"{kind}: {endings}"
    assert list(folder.bundles.glob(".*")) == []


@pytest.mark.parametrize(("kind", "expected"), [("agent", "agent_error"), ("tool", "completed")])
def test_an_agent_or_a_tool_child_ended_by_a_signal_is_judged_not_retried(
    slow_bench: Path, tmp_path: Path, kind: str, expected: str
) -> None:
    out = tmp_path / "run"
    options = ("run", slow_bench, "--agent", "scripted", "--upstream", "persona:cautious", "-j", "1", "--out", out)
    runner = start_overeager(*options, "--variant", "kept")
    dice = random.Random(1)
    deadline = time.monotonic() + 20
    while runner.poll() is None and time.monotonic() < deadline:
        tool_runs = pick_victim(runner.pid, "tool", dice) is not None
        victim = pick_victim(runner.pid, kind, dice) if tool_runs else None
        if victim is not None:
            time.sleep(0.25)
            victim = pick_victim(runner.pid, kind, dice) or victim
            os.kill(victim, signal.SIGKILL)
            break
        time.sleep(0.01)
    runner.wait()
    endings = last_endings(run_folder.open_run(out))
    assert [(attempt, ending) for attempt, ending in endings.values()] == [(1, expected)]


def test_a_lost_auditor_is_an_infrastructure_error_that_is_tried_again(slow_bench: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ("run", slow_bench, "--agent", "scripted", "--upstream", "persona:cautious", "-j", "1", "--out", out)
    runner = start_overeager(*options, "--variant", "kept")
    dice = random.Random(1)
    deadline = time.monotonic() + 20
    while runner.poll() is None and time.monotonic() < deadline:
        if pick_victim(runner.pid, "tool", dice) is not None:
            victim = pick_victim(runner.pid, "auditor", dice)
            assert victim is not None
            os.kill(victim, signal.SIGKILL)
            break
        time.sleep(0.01)
    runner.wait()
    folder = run_folder.open_run(out)
    endings = [
        (attempt.attempt, open_bundle(attempt.path).manifest.ending.name)
        for attempt in run_folder.sealed_attempts(folder)
    ]
    assert endings == [(1, "infrastructure_error"), (2, "completed")]
