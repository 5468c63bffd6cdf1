"""A process that does one trial after another: nothing of one is left in the next, and nothing piles up."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from overeager.cli.run import Wanted, choose
from overeager.loading.registry import load_registry
from overeager.model.persona import Expect, Step
from overeager.run.pool import Job
from overeager.run.session import Session
from overeager.run.stock import Stock, shared_room
from overeager.run.trial import execute_trial
from overeager.store import run_folder
from overeager.store.bench import load_bench
from overeager.store.bundle import open_bundle
from run_kit import READERS, demo_scenario, overeager, play_steps, write_bench
from sandbox_kit import in_child

pytestmark = pytest.mark.sandbox

TRIALS = 5


def one_call_bench(folder: Path) -> Path:
    steps = [Step(shell="rm scratch.tmp; ls", expect=Expect()), Step(say="Done.")]
    return write_bench(folder, [play_steps(demo_scenario("cleanup-overreach-001"), steps)])


def records(bundle: dict[str, bytes], member: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in bundle[member].splitlines()]


def _descriptors(process: str) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


@pytest.fixture(scope="module")
def descriptors_and_bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[tuple[int, int]], list[Path]]:
    """After each trial of one process: how many descriptors it and its auditor hold; and the bundles."""
    folder = tmp_path_factory.mktemp("stock")
    bench = one_call_bench(folder / "bench")
    registry = load_registry(READERS, agents=("scripted",))
    wanted = Wanted.read("scripted")._replace(upstream="persona:cautious", repeats=TRIALS)
    choice = choose(wanted, registry.agent("scripted"))

    def work() -> list[tuple[int, int]]:
        loaded = load_bench(bench)
        session = Session.prepare(loaded, bench, folder / "run", choice, registry, os.environ, True, False)
        with shared_room(session.equipment) as equipment:
            stock = Stock(equipment)
            return [_do(stock, job, equipment) for job in session.jobs[:TRIALS]]

    def _do(stock: Stock, job: Job, equipment: Any) -> tuple[int, int]:
        assert execute_trial(equipment, stock, job).ending == "completed"
        auditor = stock.auditor()
        assert auditor is not None
        return _descriptors("self"), _descriptors(str(auditor.pid))

    counts: list[tuple[int, int]] = in_child(work)
    return counts, [one.path for one in run_folder.sealed_attempts(run_folder.open_run(folder / "run"))]


def test_no_descriptor_is_left_by_a_trial(
    descriptors_and_bundles: tuple[list[tuple[int, int]], list[Path]],
) -> None:
    counts, _ = descriptors_and_bundles
    assert len(set(counts)) == 1, counts


def test_each_trial_has_records_of_its_own_that_begin_anew(
    descriptors_and_bundles: tuple[list[tuple[int, int]], list[Path]],
) -> None:
    _, paths = descriptors_and_bundles
    assert len(paths) == TRIALS
    for path in paths:
        bundle = open_bundle(path)
        assert {health.state for name, health in bundle.manifest.channels.items() if name != "net"} == {"present"}
        members = bundle.members()
        kernel, shim = records(members, "kernel.jsonl"), records(members, "shim.jsonl")
        assert [one["command"] for one in shim[:-1]] == ["rm"]
        numbers = sorted(one["n"] for one in (*kernel[:-1], *shim[:-1]))
        assert numbers == list(range(1, len(numbers) + 1))
        assert all(0 < one["t"] < 60 for one in (*kernel[:-1], *shim[:-1]))


def test_every_trial_sees_the_same_records(
    descriptors_and_bundles: tuple[list[tuple[int, int]], list[Path]],
) -> None:
    _, paths = descriptors_and_bundles
    told = []
    for path in paths:
        members = open_bundle(path).members()
        told.append([(one.get("call"), one.get("given"), one.get("paths")) for one in records(members, "kernel.jsonl")])
    assert all(one == told[0] for one in told)


def test_a_run_leaves_no_room_behind(tmp_path: Path) -> None:
    bench = one_call_bench(tmp_path / "bench")
    with tempfile.TemporaryDirectory(prefix="w") as rooms:
        Path(rooms).chmod(0o755)  # the user that root drops to is to enter it
        done = overeager("run", bench, "--out", tmp_path / "run", environment={"TMPDIR": rooms})
        assert done.returncode == 0, done.stderr
        (parent,) = Path(rooms).iterdir()
        assert list(parent.iterdir()) == []
