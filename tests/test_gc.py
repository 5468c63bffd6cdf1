"""`overeager gc`: what a run that was ended by force leaves, and that nothing of a living one is touched."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import docker_kit
from overeager.model.persona import Expect, Step
from overeager.sandbox.docker_engine import connect, open_engine
from overeager.store import run_folder
from run_kit import demo_scenario, overeager, play_steps, start_overeager, write_bench
from sandbox_kit import find_processes, until

pytestmark = pytest.mark.sandbox

SANDBOX = f"docker:{docker_kit.IMAGE}"


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[dict[str, str]]:
    """A cache and a temporary folder of our own: what other tests leave meanwhile is not ours to count."""
    folder = Path(tempfile.mkdtemp(prefix="w"))
    folder.chmod(0o755)
    (folder / "t").mkdir(mode=0o755)
    yield {**docker_kit.environment(), "OVEREAGER_CACHE": str(folder / "c"), "TMPDIR": str(folder / "t")}
    shutil.rmtree(folder, ignore_errors=True)


def list_images(environment: dict[str, str]) -> list[str]:
    with connect(open_engine(environment)) as client:
        return sorted(str(one["Id"]) for one in client.images(filters={"label": "overeager.key"}))


def list_containers(environment: dict[str, str]) -> list[str]:
    with connect(open_engine(environment)) as client:
        return sorted(str(one["Id"]) for one in client.containers(all=True))


@pytest.fixture(autouse=True)
def no_leftovers(environment: dict[str, str]) -> None:
    docker_kit.sweep()


SLEEP = "987654.5"
"""Seconds, by which the agent's process is found."""


@pytest.fixture(scope="module")
def slow_bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    steps = [Step(shell=f"sleep {SLEEP}", expect=Expect()), Step(say="Done.")]
    scenario = play_steps(demo_scenario("cleanup-overreach-001"), steps)
    return write_bench(tmp_path_factory.mktemp("benches") / "slow", [scenario])


def start_run(bench: Path, out: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A run whose agent sleeps when this returns."""
    options = ("--variant", "kept", "--upstream", "persona:cautious", "--sandbox", SANDBOX, "-j", "1", "--out", out)
    runner = start_overeager("run", bench, *options, environment=environment)
    assert until(lambda: find_processes(SLEEP) != [], 240)
    return runner


def collect(environment: dict[str, str], *options: str | Path) -> dict[str, Any]:
    """What `overeager gc --json` says."""
    told = overeager("gc", "--json", *options, environment=environment)
    assert told.returncode == 0, told.stderr
    return dict(json.loads(told.stdout))


def kinds(things: list[dict[str, Any]]) -> set[str]:
    return {thing["kind"] for thing in things}


def processes_of(folder: Path) -> list[int]:
    """The processes of the run in `folder`, the nearest last."""
    return sorted(find_processes(str(folder)), reverse=True)


@pytest.mark.parametrize("whom", ["the runner", "all its processes"])
def test_a_killed_run_leaves_no_container_running_and_gc_takes_the_rest(
    slow_bench: Path, environment: dict[str, str], tmp_path: Path, whom: str
) -> None:
    runner = start_run(slow_bench, tmp_path / "run", environment)
    assert collect(environment, "--dry-run", tmp_path / "run")["removed"] == [], "all of it is a living run's"
    for pid in [runner.pid] if whom == "the runner" else processes_of(tmp_path / "run"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    runner.wait()
    assert until(lambda: find_processes(SLEEP) == [])
    assert until(lambda: list_containers(environment) == [])
    assert until(lambda: processes_of(tmp_path / "run") == [])
    assert kinds(collect(environment, tmp_path / "run")["removed"]) == {"room"}
    assert collect(environment, tmp_path / "run")["removed"] == []


MAKE_AND_DIE = """
import os, signal
from overeager.contract.effects import SandboxPlan
from overeager.sandbox import docker
from overeager.sandbox.docker_engine import open_engine
from overeager.sandbox.identity import choose_identity
from overeager.store.room import open_room

room = open_room(None, choose_identity())
docker.furnish(room, ())
for name in ("private", "notify"):
    (room.run / name).touch()
docker.create(SandboxPlan(room, choose_identity(), ("true",), {{}}, "/home/user"), open_engine(), "{image}")
print(room.root, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_gc_takes_the_container_and_the_room_of_a_dead_owner(environment: dict[str, str]) -> None:
    """A container that was made and never started, as by a process that was killed in between."""
    command = [sys.executable, "-c", MAKE_AND_DIE.format(image=docker_kit.IMAGE)]
    whole = {**os.environ, **environment}
    done = subprocess.run(command, env=whole, capture_output=True, text=True, check=False)
    room = Path(done.stdout.strip())
    assert room.is_dir(), done.stderr
    assert len(list_containers(environment)) == 1
    assert kinds(collect(environment, "--dry-run")["removed"]) == {"container", "room"}
    assert room.is_dir()
    said = overeager("gc", environment=environment)
    assert said.returncode == 0
    assert str(room) in said.stdout
    assert list_containers(environment) == []
    assert not room.exists()


def test_gc_takes_half_written_bundles_of_a_run_that_nobody_holds(environment: dict[str, str], tmp_path: Path) -> None:
    bench = write_bench(tmp_path / "b", [demo_scenario("cleanup-overreach-001")])
    run = tmp_path / "run"
    options = ("--variant", "kept", "--upstream", "persona:cautious", "--out", run)
    assert overeager("run", bench, *options, environment=environment).returncode == 0
    draft = run / "bundles" / ".trial.1.zip.part"
    with run_folder.locked(run_folder.open_run(run)):
        draft.write_bytes(b"PK" * 3000)
        assert collect(environment, run)["removed"] == [], "a runner holds the folder"
    told = collect(environment, run)
    assert [(one["kind"], one["name"]) for one in told["removed"]] == [("draft", str(draft))]
    assert told["size"] >= 6000
    assert not draft.exists()


def test_gc_takes_derived_images_only_when_it_is_asked_to_and_no_run_uses_them(environment: dict[str, str]) -> None:
    assert len(list_images(environment)) >= 1
    assert overeager("gc", environment=environment).returncode == 0
    assert len(list_images(environment)) >= 1
    told = collect(environment, "--images")
    assert kinds(told["removed"]) == {"image"}
    assert list_images(environment) == []


def test_gc_keeps_the_images_of_a_living_run(slow_bench: Path, environment: dict[str, str], tmp_path: Path) -> None:
    runner = start_run(slow_bench, tmp_path / "run", environment)
    try:
        told = collect(environment, "--images")
        assert [one["kind"] for one in told["kept"]] == ["image"]
        assert len(list_images(environment)) == 1
    finally:
        runner.kill()
        runner.wait()
    assert until(lambda: list_containers(environment) == [])
