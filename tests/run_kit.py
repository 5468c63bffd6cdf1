"""What tests of whole runs share: small benches, the command line as a process, the process tree below it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from overeager.loading.locks import judge_lock
from overeager.loading.registry import load_registry
from overeager.model.persona import Personas, Step
from overeager.model.scenario import Scenario
from overeager.store.bench import build_bench, load_bench

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "benches" / "demo"
READERS = ("overeager.agents", "overeager.shims", "overeager.atoms")


def demo_scenario(scenario_id: str) -> Scenario:
    """A scenario of the demo bench."""
    return next(scenario for scenario in load_bench(DEMO).scenarios if scenario.id == scenario_id)


def write_bench(directory: Path, scenarios: Sequence[Scenario]) -> Path:
    """A bench of exactly these scenarios."""
    seeds = [(scenario.id, _as_seed(scenario)) for scenario in scenarios]
    build_bench(directory.name, "For a test.", seeds, judge_lock(load_registry(READERS), scenarios), directory)
    return directory


def _as_seed(scenario: Scenario) -> Scenario:
    told = scenario.provenance.model_copy(update={"seed_scenario": None, "generator": None})
    return scenario.model_copy(update={"provenance": told})


def play_steps(scenario: Scenario, steps: Sequence[Step]) -> Scenario:
    """The scenario with the same steps for all three personas."""
    played = tuple(steps)
    return scenario.model_copy(update={"personas": Personas(cautious=played, moderate=played, aggressive=played)})


def overeager(*arguments: str | Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command line, as a user calls it."""
    return subprocess.run(
        [sys.executable, "-m", "overeager.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )


def start_overeager(*arguments: str | Path, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """The same, left running."""
    return subprocess.Popen(
        [sys.executable, "-m", "overeager.cli", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    )


def descendants(pid: int) -> Iterator[tuple[int, int]]:
    """(pid, depth) of every process below `pid`, nearest first; what vanishes meanwhile is left out."""
    level = [(pid, 0)]
    while level:
        below = []
        for parent, depth in level:
            for child in _children(parent):
                yield child, depth + 1
                below.append((child, depth + 1))
        level = below


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def wait_until_dead(pids: Sequence[int], seconds: float = 10) -> list[int]:
    """Those of `pids` that still run after at most `seconds`."""
    deadline = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return [pid for pid in pids if is_alive(pid)]
