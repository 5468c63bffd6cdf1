"""Run folders: what is done stays done, what was not sealed never counts, one runner at a time."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from overeager.errors import OvereagerError
from overeager.model.bundle import BundleManifest
from overeager.model.run import RunPlan
from overeager.store.bundle import seal
from overeager.store.run_folder import (
    RunFolder,
    create_run,
    done_trials,
    is_done,
    locked,
    next_attempt,
    open_run,
    read_plan,
    sealed_attempts,
)

HASH = "0" * 64
TRIAL = "cleanup-001~consent_kept~r1"
CELL = {
    "agent": "scripted", "version": "1", "mode": "bypass", "upstream": "none", "model": "scripted",
    "responder": "nobody", "sandbox": "bubblewrap", "kernel": True,
}  # fmt: skip
PLAN = RunPlan.model_validate(
    {
        "schema_version": 1, "bench": "demo", "bench_digest": HASH, "cell": CELL, "product": "0",
        "trials": [{"scenario": "cleanup-001", "variant": "consent_kept"}],
    }
)  # fmt: skip


def manifest(ending: str) -> BundleManifest:
    locks = ("prompt", "interaction", "fixture", "launch", "shims", "sandbox", "system", "agent")
    return BundleManifest.model_validate(
        {
            "schema_version": 1, "trial": PLAN.trials[0].model_dump(), "attempt": 1, "cell": CELL, "scenario": HASH,
            "stimulus": dict.fromkeys(locks, HASH), "workspace": "/home/user/x", "home": "/home/user",
            "binary": {"version": "1", "sha256": HASH}, "plugins": [], "started": "2026-01-15T10:00:00Z",
            "timings": {}, "ending": {"name": ending}, "channels": {}, "canaries": {}, "members": {}, "product": "0",
        }
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create_run(tmp_path / "runs" / "one", PLAN)


@pytest.mark.pure
def test_the_plan_comes_back(folder: RunFolder) -> None:
    assert read_plan(open_run(folder.root)) == PLAN


@pytest.mark.pure
def test_a_run_is_never_written_over(folder: RunFolder) -> None:
    with pytest.raises(OvereagerError, match="STO024"):
        create_run(folder.root, PLAN)


@pytest.mark.pure
def test_a_folder_without_a_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(OvereagerError, match="STO026"):
        open_run(tmp_path)


@pytest.mark.pure
def test_output_that_cannot_be_written_is_a_coded_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OvereagerError, match="STO025"):
        create_run(tmp_path / "file" / "run", PLAN)


@pytest.mark.pure
@pytest.mark.parametrize("data", [b"", b"{", b'{"schema_version": 2}'])
def test_a_broken_plan_is_a_coded_error(data: bytes, folder: RunFolder) -> None:
    (folder.root / "run.json").write_bytes(data)
    with pytest.raises(OvereagerError, match="STO027"):
        read_plan(folder)


@pytest.mark.pure
def test_an_attempt_is_numbered_after_the_last_sealed_one(folder: RunFolder) -> None:
    assert next_attempt(folder, TRIAL) == 1
    for number in (1, 2, 10):
        seal(folder.bundle_path(TRIAL, number), manifest("provider_error"), {})
    assert [one.attempt for one in sealed_attempts(folder)] == [1, 2, 10]
    assert next_attempt(folder, TRIAL) == 11
    assert next_attempt(folder, "cleanup-001~consent_kept") == 1


@pytest.mark.pure
@pytest.mark.parametrize(
    ("ending", "done"),
    [
        ("completed", True),
        ("timed_out", True),
        ("no_activity", True),
        ("unsupported", True),
        ("provider_error", False),
        ("infrastructure_error", False),
        ("interrupted", False),
    ],
)
def test_a_trial_is_done_when_its_ending_is_not_to_be_retried(ending: str, done: bool, folder: RunFolder) -> None:
    assert not is_done(folder, TRIAL)
    seal(folder.bundle_path(TRIAL, 1), manifest(ending), {})
    assert is_done(folder, TRIAL) is done
    assert done_trials(folder) == (frozenset({TRIAL}) if done else frozenset())


@pytest.mark.pure
def test_drafts_and_strangers_are_no_attempts(folder: RunFolder) -> None:
    for name in (f".{TRIAL}.1.zip.part", f"{TRIAL}.zip", f"{TRIAL}.0.zip", f"{TRIAL}.1.zip~", "notes.txt"):
        (folder.bundles / name).write_text("x")
    assert sealed_attempts(folder) == ()


@pytest.mark.pure
def test_a_damaged_attempt_is_refused_by_name_not_taken_for_undone(folder: RunFolder) -> None:
    path = folder.bundle_path(TRIAL, 1)
    seal(path, manifest("completed"), {"kernel.jsonl": b"x" * 100})
    data = bytearray(path.read_bytes())
    data[60] ^= 1
    path.write_bytes(data)
    with pytest.raises(OvereagerError, match="BUN003") as caught:
        done_trials(folder)
    assert path.name in str(caught.value)


@pytest.mark.pure
def test_verdicts_of_two_judges_lie_apart(folder: RunFolder) -> None:
    first = folder.verdict_path("a" * 64, TRIAL, 1)
    assert first == folder.root / "verdicts" / ("a" * 16) / f"{TRIAL}.1.json"
    assert folder.verdict_path("b" * 64, TRIAL, 1) != first


@pytest.mark.pure
def test_a_second_runner_is_refused(folder: RunFolder) -> None:
    with locked(folder):
        with pytest.raises(OvereagerError, match="STO028"), locked(folder):
            pass
        with pytest.raises(BlockingIOError), locked(RunFolder(_other(folder))):
            raise BlockingIOError  # what the body raises is the body's own
    with locked(folder):
        pass


def test_a_killed_runner_leaves_no_lock_and_no_draft(folder: RunFolder) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with locked(folder):
            (folder.bundles / f".{TRIAL}.1.zip.part").write_text("half")
            os.write(writer, b"x")
            signal.pause()
    os.read(reader, 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with locked(folder):
        assert list(folder.bundles.iterdir()) == []
    os.close(reader)
    os.close(writer)


def _other(folder: RunFolder) -> Path:
    return create_run(folder.root.with_name("two"), PLAN).root
