"""Bundles and verdicts that are gone, moved, cut or made up: told by name, and never a result."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bad_judging_kit import KEPT, Members, bundle, copy_run, forge, judged_run, restate, verdict
from bad_kit import files_below, refusal
from run_kit import DEMO, is_alive, overeager

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("original"))


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Path:
    return copy_run(original, tmp_path)


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def of_the_future(data: bytes) -> bytes:
    return json.dumps({**json.loads(data), "schema_version": 99}).encode()


def made_up(data: bytes) -> bytes:
    return data.replace(b'"critical":1,', b'"critical":0,')


def no_number(data: bytes) -> bytes:
    return data.replace(b'"critical":1,', b'"critical":NaN,')


@pytest.mark.parametrize("spoil", [cut, of_the_future, made_up, no_number])
def test_a_verdict_that_is_not_as_it_was_written_is_made_again(spoil: Callable[[bytes], bytes], run: Path) -> None:
    whole = verdict(run).read_bytes()
    assert spoil(whole) != whole
    verdict(run).write_bytes(spoil(whole))
    assert overeager("judge", run).returncode == 0
    assert verdict(run).read_bytes() == whole


def test_a_verdict_whose_bundle_is_gone_stops_the_report(run: Path) -> None:
    bundle(run).unlink()
    for command in ("judge", "report"):
        said = refusal(command, run, code="JDG012")
        assert f"'{KEPT}' (attempt 1)" in said
        assert f"in {run / 'bundles'}" in said
    assert "JDG012" in overeager("compare", run, run).stderr


def test_a_bundle_whose_verdict_is_missing_is_judged(run: Path) -> None:
    before = files_below(run / "verdicts")
    verdict(run).unlink()
    assert overeager("report", run).returncode == 0
    assert files_below(run / "verdicts") == before


def test_a_run_of_which_half_is_sealed_says_so_everywhere(run: Path) -> None:
    bundle(run).unlink()
    verdict(run).unlink()
    for form in ("table", "markdown"):
        done = overeager("report", run, "--format", form)
        assert done.returncode == 0
        assert "planned and never sealed: 1" in done.stdout
        assert "1 of 2 planned trials are not sealed" in done.stderr
    (cell,) = json.loads(overeager("report", run, "--json").stdout)["cells"]
    assert cell["unsealed"] == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [({"cell": {"model": "another"}}, "another cell played it"), ({"trial": {"repeat": 9}}, "no such trial")],
)
def test_a_bundle_of_another_run_is_refused(change: dict[str, dict[str, object]], why: str, run: Path) -> None:
    trial = KEPT.replace("r1", "r9") if "trial" in change else KEPT
    if trial != KEPT:
        shutil.copy(bundle(run), bundle(run, trial))
    forge(bundle(run, trial), restate(**change))
    said = refusal("report", run, code="JDG013")
    assert why in said
    assert f"in {bundle(run, trial)}" in said


def test_the_same_trial_under_two_numbers_is_refused(run: Path) -> None:
    shutil.copy(bundle(run), bundle(run, attempt=2))
    assert "holds attempt 1" in refusal("judge", run, code="BUN007")


def test_a_bundle_of_another_scenario_text_is_refused(run: Path) -> None:
    forge(bundle(run), restate(scenario="0" * 64))
    assert f"in {bundle(run)}" in refusal("judge", run, code="JDG003")


def test_a_bench_that_was_changed_after_the_run_is_refused(run: Path) -> None:
    scenario = next((run / "bench" / "scenarios").iterdir())
    scenario.write_text(scenario.read_text().replace("notes.txt", "notez.txt"))
    assert f"in {scenario}" in refusal("report", run, code="BEN005")


def test_an_agent_that_nothing_offers_is_refused_with_the_bundle(run: Path) -> None:
    forge(bundle(run), restate(cell={"agent": "nosuch"}))
    assert f"in {bundle(run)}" in refusal("judge", run, code="PLG001")


def lie_about(**stated: object) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        manifest = json.loads(members["manifest.json"])
        manifest["members"]["kernel.jsonl"].update(stated)
        members["manifest.json"] = json.dumps(manifest).encode()

    return change


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lie_about(sha256="0" * 64), "BUN003", "not what the manifest says"),
        (lie_about(size=1), "BUN003", "longer than 1 bytes"),
        (lie_about(size=1 << 40), "BUN008", "of which 'kernel.jsonl' is the most"),
        (restate(timings={"agent": float("nan")}), "BUN006", "finite"),
        (restate(colour="red"), "BUN006", "unknown key 'colour'"),
        (restate(trial={"scenario": "../../etc"}), "BUN006", "match pattern"),
    ],
)
def test_a_manifest_that_lies_is_refused(change: Callable[[Members], None], code: str, words: str, run: Path) -> None:
    forge(bundle(run), change)
    said = refusal("judge", run, code=code)
    assert words in said
    assert f"in {bundle(run)}" in said


def put_fifo(path: Path) -> None:
    os.mkfifo(path)


def put_endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("put", [put_fifo, put_endless, Path.mkdir])
@pytest.mark.parametrize("which", [bundle, verdict])
def test_what_is_no_file_is_refused_at_once(
    which: Callable[[Path], Path], put: Callable[[Path], None], run: Path
) -> None:
    path = which(run)
    path.unlink()
    put(path)
    assert f"in {path}" in refusal("judge", run, code="(BUN001|STO030)")


def test_a_bundle_that_lies_elsewhere_behind_a_link_is_read(run: Path, tmp_path: Path) -> None:
    before = files_below(run / "verdicts")
    bundle(run).rename(tmp_path / "elsewhere.zip")
    bundle(run).symlink_to(tmp_path / "elsewhere.zip")
    assert overeager("report", run).returncode == 0
    assert files_below(run / "verdicts") == before
    (tmp_path / "elsewhere.zip").unlink()
    assert f"in {bundle(run)}" in refusal("judge", run, code="BUN001")


def test_a_run_of_which_nothing_is_sealed_has_no_trial_to_show(run: Path) -> None:
    shutil.rmtree(run / "bundles")
    assert "nothing of this run is sealed" in refusal("show", run, "kept", code="RUN002")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of forty trials, not judged."""
    out = tmp_path_factory.mktemp("many") / "run"
    played = ("--scenario", "cleanup-overreach-001", "--upstream", "persona:aggressive", "--repeats", "20")
    assert overeager("run", DEMO, *played, "--variant", "both", "--out", out).returncode == 0
    assert overeager("bench", "relock", out / "bench").returncode == 0
    return out


def start_judge(run: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "overeager.cli", "judge", str(run), "-j", "2"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for_verdicts(run: Path, number: int) -> None:
    deadline = time.monotonic() + 30
    while len(list((run / "verdicts").glob("*/*.json"))) < number and time.monotonic() < deadline:
        time.sleep(0.002)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_a_judge_that_is_stopped_leaves_whole_verdicts_and_the_next_one_does_the_rest(
    send: Callable[[int, int], None], how: signal.Signals, many: Path, tmp_path: Path
) -> None:
    run = copy_run(many, tmp_path)
    judge = start_judge(run)
    wait_for_verdicts(run, 4)
    children = [int(pid) for pid in Path(f"/proc/{judge.pid}/task/{judge.pid}/children").read_text().split()]
    send(judge.pid, how)
    _, said = judge.communicate(timeout=30)
    assert judge.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
    if how is signal.SIGINT:
        assert "the same command goes on with the rest" in said
        assert "Traceback" not in said
        assert not any(map(is_alive, children)), "none goes on when its caller has ended"
    early = files_below(run / "verdicts")
    assert overeager("judge", run).returncode == 0
    late = files_below(run / "verdicts")
    assert len(late) == 40
    assert {name: late[name] for name in early} == early


def test_judges_at_work_on_one_run_at_once_do_not_disturb_each_other(many: Path, tmp_path: Path) -> None:
    run, alone = copy_run(many, tmp_path), copy_run(many, tmp_path / "alone")
    judges = [start_judge(run) for _ in range(3)]
    told = [judge.communicate()[1] for judge in judges]
    assert [judge.returncode for judge in judges] == [0, 0, 0], told
    assert overeager("judge", alone).returncode == 0
    assert files_below(run / "verdicts") == files_below(alone / "verdicts")


def test_a_verdict_that_there_is_no_room_for_leaves_nothing_half_written(many: Path, tmp_path: Path) -> None:
    run = copy_run(many, tmp_path)
    limited = ["prlimit", "--fsize=500", sys.executable, "-m", "overeager.cli", "judge", str(run)]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"STO030 the verdict cannot be written: {os.strerror(errno.EFBIG)}" in done.stderr
    assert files_below(run / "verdicts") == {}
    assert overeager("judge", run).returncode == 0
