"""Run folders that are damaged, taken, stale or not there: refused by name, and nothing in them is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bad_judging_kit import forge
from bad_kit import SCENARIO, check_refusal, files_below, refusal
from overeager.model.persona import Expect, Step
from run_kit import demo_scenario, overeager, play_steps, start_overeager, write_bench

pytestmark = pytest.mark.sandbox

TRIAL = f"{SCENARIO}~consent_kept~aggressive~r1"
BUNDLE = f"bundles/{TRIAL}.1.zip"
READERS = (("judge",), ("report",), ("show", "aggressive"))
"""Every command that reads bundles; the run folder is its first argument."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bench(tmp_path_factory.mktemp("benches") / "bench", [demo_scenario(SCENARIO)])


def options(bench: Path, out: Path) -> tuple[str | Path, ...]:
    return ("run", bench, "--upstream", "persona:aggressive", "--variant", "kept", "--out", out)


@pytest.fixture(scope="module")
def original(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    assert overeager(*options(bench, out)).returncode == 0
    assert overeager("judge", out).returncode == 0
    return out


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Path:
    """A judged run of one trial, to be damaged."""
    return Path(shutil.copytree(original, tmp_path / "run"))


def read_with(command: tuple[str, ...], run: Path, code: str) -> str:
    return refusal(command[0], run, *command[1:], code=code)


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_a_bundle_with_one_bit_flipped_is_refused_by_name(command: tuple[str, ...], run: Path) -> None:
    data = bytearray((run / BUNDLE).read_bytes())
    data[len(data) // 2] ^= 1
    (run / BUNDLE).write_bytes(data)
    before = files_below(run)
    said = read_with(command, run, "BUN003")
    assert f"of the bundle '{TRIAL}.1.zip' is not as sealed" in said
    assert str(run / BUNDLE) in said
    assert files_below(run) == before


def test_a_run_with_a_damaged_bundle_is_not_resumed_over_it(bench: Path, run: Path) -> None:
    data = (run / BUNDLE).read_bytes()
    (run / BUNDLE).write_bytes(data[: len(data) // 2])
    before = files_below(run)
    refusal(*options(bench, run), "--resume", code="BUN002")
    assert files_below(run) == before


def drop_a_member(members: dict[str, bytes]) -> None:
    del members["kernel.jsonl"]


def raise_the_version(members: dict[str, bytes]) -> None:
    manifest = json.loads(members["manifest.json"])
    members["manifest.json"] = json.dumps({**manifest, "schema_version": 2}).encode()


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (drop_a_member, "BUN006", "kernel.jsonl"),
        (raise_the_version, "BUN004", "schema version 2, this version reads 1"),
    ],
)
def test_a_bundle_without_a_member_or_of_another_version_is_refused(
    change: Callable[[dict[str, bytes]], None], code: str, words: str, run: Path
) -> None:
    forge(run / BUNDLE, change)
    said = refusal("judge", run, code=code)
    assert words in said
    assert str(run / BUNDLE) in said


def test_a_bundle_under_the_name_of_another_trial_is_refused(run: Path) -> None:
    shutil.copy(run / BUNDLE, run / BUNDLE.replace("kept", "stripped"))
    assert f"holds attempt 1 of '{TRIAL}'" in refusal("report", run, code="BUN007")


def test_a_run_of_which_nothing_is_sealed_is_no_result(run: Path) -> None:
    (run / BUNDLE).unlink()
    for form in ("table", "json"):
        assert "no trial of this run is sealed" in refusal("report", run, "--format", form, code="JDG011")
    assert "--resume" in refusal("judge", run, code="JDG011")


def test_a_damaged_verdict_is_made_again_from_its_bundle(run: Path) -> None:
    (verdict,) = (run / "verdicts").rglob("*.json")
    whole = verdict.read_bytes()
    verdict.write_bytes(whole[:100])
    assert overeager("judge", run).returncode == 0
    assert verdict.read_bytes() == whole


def test_a_damaged_verdict_of_another_judge_is_not_compared_with(run: Path) -> None:
    other = run / "verdicts" / ("0" * 16) / f"{TRIAL}.1.json"
    other.parent.mkdir()
    other.write_bytes(b'{"schema')
    assert str(other) in refusal("judge", run, "--rejudge", code="STO031")


def test_a_verdict_that_cannot_be_written_loses_nothing(run: Path) -> None:
    bundles = files_below(run / "bundles")
    shutil.rmtree(run / "verdicts")
    (run / "verdicts").write_text("in the way")
    refusal("judge", run, code="STO030")
    assert files_below(run / "bundles") == bundles


def test_a_stale_judge_lock_is_refused_with_the_command_that_judges_anew(run: Path) -> None:
    manifest = run / "bench" / "manifest.yaml"
    text = manifest.read_text()
    code = text.partition("\n  code: ")[2].partition("\n")[0]
    manifest.write_text(text.replace(code, "'" + "0" * 64 + "'"))
    shutil.rmtree(run / "verdicts")
    said = refusal("report", run, code="JDG010")
    assert "the judge's own code" in said
    command = said.split("`")[1]
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert overeager("report", run).returncode == 0, "once judged anew, it can be reported"


def test_a_broken_plan_is_refused(bench: Path, run: Path) -> None:
    (run / "run.json").write_text("{")
    assert str(run / "run.json") in refusal("report", run, code="STO027")
    refusal(*options(bench, run), "--resume", code="STO027")


def test_a_run_is_not_resumed_with_other_options(bench: Path, run: Path, tmp_path: Path) -> None:
    before = files_below(run)
    refusal(*options(bench, run), "--seconds", "7", "--resume", code="RUN009")
    other = write_bench(tmp_path / "other", [demo_scenario("cleanup-overreach-002")])
    refusal(*options(other, run), "--resume", code="RUN009")
    assert files_below(run) == before


def test_a_run_is_not_written_over(bench: Path, run: Path) -> None:
    before = files_below(run)
    assert "--resume" in refusal(*options(bench, run), code="STO024")
    assert files_below(run) == before


def test_a_folder_of_something_else_is_not_written_over(bench: Path, tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "notes.txt").write_text("mine")
    refusal(*options(bench, tmp_path), code="STO029")
    assert (tmp_path / "bench" / "notes.txt").read_text() == "mine"
    assert not (tmp_path / "run.json").exists()


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    assert f"in {tmp_path}" in refusal("report", tmp_path, code="STO026")


def test_a_trial_that_is_not_there_is_refused_with_the_near_miss(run: Path) -> None:
    assert "did you mean 'aggressive'?" in refusal("show", run, "aggresive", code="RUN002")
    assert TRIAL in refusal("show", run, "nothing", code="RUN002")


def test_two_runners_never_write_one_folder(tmp_path: Path) -> None:
    steps = [Step(shell="sleep 3", expect=Expect()), Step(say="Done.")]
    slow = write_bench(tmp_path / "slow", [play_steps(demo_scenario(SCENARIO), steps)])
    out = tmp_path / "run"
    first = start_overeager(*options(slow, out))
    deadline = time.monotonic() + 20
    while not (out / "run.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    seconds = [overeager(*options(slow, out), *more) for more in (("--resume",), ())]
    for done in seconds:
        check_refusal(done, "STO0(28|24)")
    assert "another runner writes this run folder" in "".join(done.stderr for done in seconds)
    assert first.wait() == 0, "the first runner was not disturbed"
    assert [path.name for path in (out / "bundles").iterdir()] == [f"{TRIAL}.1.zip"]
