"""Whole runs in containers: the same verdicts as in bubblewrap, and every refusal with its cure."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import docker_kit
import test_visible_words as words
from overeager.model.persona import Expect, Step
from overeager.model.stand_in import FixtureProcess, pids_of
from overeager.run.session import last_endings
from overeager.sandbox.docker_engine import connect, open_engine
from overeager.store import run_folder
from overeager.store.bench import load_bench
from overeager.store.bundle import open_bundle
from run_kit import DEMO, ROOT, demo_scenario, overeager, play_steps, write_bench
from sandbox_kit import ORDINARY

pytestmark = pytest.mark.sandbox

SANDBOX = f"docker:{docker_kit.IMAGE}"


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[dict[str, str]]:
    """A cache of our own, so that the image is derived here."""
    folder = tempfile.mkdtemp(prefix="w")
    Path(folder).chmod(0o755)
    yield {**docker_kit.environment(), "OVEREAGER_CACHE": folder}
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def demo_runs(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The demo bench, one variant, judged, in both sandboxes."""
    folder = tmp_path_factory.mktemp("demo")
    bench = write_bench(folder / "bench", load_bench(DEMO).scenarios)
    for name, sandbox in (("bubblewrap", "bubblewrap"), ("docker", SANDBOX)):
        options = ("--variant", "kept", "--sandbox", sandbox, "-j", "2", "--out", folder / name)
        told = overeager("run", bench, *options, environment=environment)
        assert told.returncode == 0, told.stderr
        judged = overeager("judge", folder / name, "--rejudge")
        assert judged.returncode == 0, judged.stderr
    return {name: folder / name for name in ("bubblewrap", "docker")}


def read_verdicts(run: Path) -> dict[str, dict[str, object]]:
    """What was concluded of each trial, without what names the bundle it was concluded from."""
    found = {}
    for path in sorted(run.glob("verdicts/*/*.json")):
        told = json.loads(path.read_text())
        found[path.name] = {key: _values(value) for key, value in told.items() if key in ("traps", "done", "overeager")}
    return found


def _values(value: object) -> object:
    """Values and no pointers: lines differ from sandbox to sandbox."""
    if isinstance(value, dict):
        return {key: _values(inner) for key, inner in value.items() if key not in ("witnesses", "evidence", "because")}
    return [_values(inner) for inner in value] if isinstance(value, list) else value


def test_the_demo_bench_has_the_same_verdicts_as_in_bubblewrap(demo_runs: dict[str, Path]) -> None:
    verdicts = {name: read_verdicts(run) for name, run in demo_runs.items()}
    assert len(verdicts["docker"]) >= 12
    assert verdicts["docker"] == verdicts["bubblewrap"]


def test_every_channel_of_every_trial_is_whole(demo_runs: dict[str, Path]) -> None:
    for sealed in run_folder.sealed_attempts(run_folder.open_run(demo_runs["docker"])):
        manifest = open_bundle(sealed.path).manifest
        assert {name: health.reason for name, health in manifest.channels.items() if health.state != "present"} == {}
        assert manifest.cell.sandbox == SANDBOX
        assert manifest.cell.options == {}, "this engine keeps its limits"


def test_the_stimulus_lock_names_another_sandbox_and_the_same_fixture(demo_runs: dict[str, Path]) -> None:
    docker, bubblewrap = (
        {
            one.trial: open_bundle(one.path).manifest.stimulus
            for one in run_folder.sealed_attempts(run_folder.open_run(run))
        }
        for run in (demo_runs["docker"], demo_runs["bubblewrap"])
    )
    for trial, lock in docker.items():
        assert lock.fixture == bubblewrap[trial].fixture
        assert lock.sandbox != bubblewrap[trial].sandbox
        assert lock.system != bubblewrap[trial].system


def test_a_second_run_builds_no_image(demo_runs: dict[str, Path], environment: dict[str, str], tmp_path: Path) -> None:
    before = list_images(environment)
    options = ("--scenario", "git-overreach-001", "--variant", "kept", "--sandbox", SANDBOX, "--out", tmp_path / "run")
    told = overeager("run", demo_runs["docker"] / "bench", *options, environment=environment)
    assert told.returncode == 0, told.stderr
    assert list_images(environment) == before
    assert before, "the first run has built one"


def list_images(environment: dict[str, str]) -> list[str]:
    with connect(open_engine(environment)) as client:
        return sorted(str(one["Id"]) for one in client.images(filters={"label": "overeager.key"}))


def test_nothing_visible_in_a_container_speaks_of_measurement(environment: dict[str, str], tmp_path: Path) -> None:
    bench = write_bench(tmp_path / "b", [words.probe()])
    options = ("--upstream", "persona:moderate", "--variant", "kept", "--sandbox", SANDBOX, "--out", tmp_path / "run")
    told = overeager("run", bench, *options, environment=environment)
    assert told.returncode == 0, told.stderr
    (sealed,) = run_folder.sealed_attempts(run_folder.open_run(tmp_path / "run"))
    dump = words.read_dump(open_bundle(sealed.path).read("fs/diff.jsonl"))
    assert "/usr/local/libexec" in dump["places"]
    assert "user:x:" in dump["etc"]
    # Where the engine keeps the layers of an image, which no container can hide.
    dump = {**dump, "mounts": re.sub(r"(?<=,)(?:lowerdir|upperdir|workdir)=\S+", "", dump["mounts"])}
    assert words.find_words(dump) == []


def test_processes_of_the_fixture_run_under_their_numbers_and_the_one_that_is_left_is_told(
    environment: dict[str, str], tmp_path: Path
) -> None:
    scenario = demo_scenario("cleanup-overreach-001")
    beside = (
        FixtureProcess(name="server", command=("web-server", "--port", "9000"), port=9000),
        FixtureProcess(name="worker", command=("worker",)),
    )
    fixture = scenario.fixture.model_copy(update={"processes": beside})
    numbers = pids_of(beside)
    steps = [Step(shell=f"curl -s localhost:9000 && kill {numbers['worker']}", expect=Expect()), Step(say="Done.")]
    bench = write_bench(tmp_path / "b", [play_steps(scenario.model_copy(update={"fixture": fixture}), steps)])
    options = ("--upstream", "persona:cautious", "--variant", "kept", "--sandbox", SANDBOX, "--out", tmp_path / "run")
    told = overeager("run", bench, *options, environment=environment)
    assert told.returncode == 0, told.stderr
    (sealed,) = run_folder.sealed_attempts(run_folder.open_run(tmp_path / "run"))
    bundle = open_bundle(sealed.path)
    records = [json.loads(line) for line in bundle.read("kernel.jsonl").split(b"\n") if line]
    assert [record["target"] for record in records if record.get("call") == "kill"] == [numbers["worker"]]
    left = [process["inside"] for record in records if record.get("call") == "left" for process in record["processes"]]
    assert left == [numbers["server"]]
    assert bundle.manifest.processes == numbers


@pytest.mark.real_cli
def test_real_claude_code_overreaches_in_a_container_as_its_persona_does(
    environment: dict[str, str], tmp_path: Path
) -> None:
    shared = {name: value for name, value in environment.items() if name != "OVEREAGER_CACHE"}
    bench = write_bench(tmp_path / "b", [demo_scenario("git-overreach-001")])
    told = overeager(
        "run", bench, "--agent", "claude-code@2.1.117", "--upstream", "persona:aggressive", "--variant", "kept",
        "--sandbox", SANDBOX, "--out", tmp_path / "run", environment=shared,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert overeager("judge", tmp_path / "run", "--rejudge").returncode == 0
    (verdict,) = read_verdicts(tmp_path / "run").values()
    assert verdict["overeager"] is True or "true" in json.dumps(verdict["overeager"])
    (sealed,) = run_folder.sealed_attempts(run_folder.open_run(tmp_path / "run"))
    manifest = open_bundle(sealed.path).manifest
    assert [manifest.channels[name].state for name in ("agent", "kernel", "shim", "fs")] == ["present"] * 4


@pytest.fixture(scope="module")
def slow_bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    steps = [Step(shell="sleep 987654.5", expect=Expect()), Step(say="Done.")]
    return write_bench(
        tmp_path_factory.mktemp("benches") / "slow", [play_steps(demo_scenario("cleanup-overreach-001"), steps)]
    )


def test_an_ordinary_user_of_the_engines_group_runs_trials_with_all_channels(
    environment: dict[str, str], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    home = Path(tempfile.mkdtemp(prefix="h"))
    os.chown(home, ORDINARY, ORDINARY)
    bench = write_bench(home / "b", [demo_scenario("git-overreach-001")])
    command = [
        sys.executable, str(ROOT / "tests" / "as_ordinary.py"), str(ORDINARY), "run", str(bench), "--variant", "kept",
        "--upstream", "persona:moderate", "--sandbox", SANDBOX, "--out", str(home / "run"),
    ]  # fmt: skip
    told = subprocess.run(
        command, env={**os.environ, **docker_kit.environment(), "HOME": str(home), "OVEREAGER_CACHE": str(home / "c")},
        capture_output=True, text=True, check=False, cwd=home,
    )  # fmt: skip
    try:
        assert told.returncode == 0, told.stderr
        (sealed,) = run_folder.sealed_attempts(run_folder.open_run(home / "run"))
        manifest = open_bundle(sealed.path).manifest
        assert {health.state for health in manifest.channels.values()} == {"present"}
    finally:
        shutil.rmtree(home)


def test_an_image_that_is_not_here_is_not_fetched(
    slow_bench: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    told = overeager(
        "run", slow_bench, "--sandbox", "docker:nowhere:1", "--out", tmp_path / "run", environment=environment
    )
    assert told.returncode == 2
    assert "SBX023" in told.stderr
    assert "docker pull nowhere:1" in told.stderr


def test_an_image_with_volumes_is_refused(slow_bench: Path, environment: dict[str, str], tmp_path: Path) -> None:
    with connect(open_engine(environment)) as client:
        made = client.create_container(docker_kit.IMAGE, command=["true"])
        client.commit(made["Id"], repository="tests", tag="volumes", changes=["VOLUME /data"])
        client.remove_container(made["Id"])
    told = overeager(
        "run", slow_bench, "--sandbox", "docker:tests:volumes", "--out", tmp_path / "run", environment=environment
    )
    assert told.returncode == 2
    assert "SBX024" in told.stderr
    assert "/data" in told.stderr


def test_a_missing_engine_is_said_with_its_cure(slow_bench: Path, tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/s"}
    told = overeager("run", slow_bench, "--sandbox", "docker", "--out", tmp_path / "run", environment=nowhere)
    assert (told.returncode, "SBX020" in told.stderr, "docker.io" in told.stderr) == (2, True, True)
    told = overeager(
        "run", slow_bench, "--sandbox", "docker", "--out", tmp_path / "r", environment={"DOCKER_HOST": "tcp://h:1"}
    )
    assert (told.returncode, "SBX021" in told.stderr) == (2, True)


def test_doctor_tries_a_whole_container(environment: dict[str, str]) -> None:
    told = overeager("doctor", "--sandbox", SANDBOX, "--json", environment=environment)
    checks = {check["name"]: check for check in json.loads(told.stdout)}
    assert told.returncode == 0, checks
    assert {"docker", "image", "rehearsal", "limits", "network"} <= {
        name for name, check in checks.items() if check["ok"]
    }
    assert checks["an agent's own sandbox"]["ok"] is None


def test_a_resume_goes_on_in_the_same_image(slow_bench: Path, environment: dict[str, str], tmp_path: Path) -> None:
    bench = write_bench(tmp_path / "b", [demo_scenario("git-overreach-001")])
    options = ("run", bench, "--upstream", "persona:cautious", "--sandbox", SANDBOX, "--out", tmp_path / "run")
    assert overeager(*options, "--variant", "kept", environment=environment).returncode == 0
    assert overeager(*options, "--variant", "kept", "--resume", environment=environment).returncode == 0
    refused = overeager(
        "run", bench, "--upstream", "persona:cautious", "--variant", "kept", "--out", tmp_path / "run", "--resume"
    )
    assert "RUN009" in refused.stderr
    assert len(last_endings(run_folder.open_run(tmp_path / "run"))) == 1
