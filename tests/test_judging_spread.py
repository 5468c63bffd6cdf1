"""Judging many bundles holds little of each: work is spread in order, and of a verdict only a summary is kept."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bad_judging_kit import bundle, copy_run, judged_run, verdict
from bad_kit import files_below
from overeager import canonical
from overeager.errors import OvereagerError
from overeager.model.verdict import Verdict
from overeager.run.spread import spread
from overeager.store.summary import Summary, summarize
from overeager.store.verdicts import find_summary, find_verdict
from run_kit import is_alive, overeager


def by_whom(item: int) -> str:
    return f"{item} {os.getpid()}"


@pytest.mark.pure
@pytest.mark.parametrize("jobs", [1, 2, 3, 7])
def test_what_is_spread_comes_back_in_order_from_as_many_processes(jobs: int) -> None:
    told = [line.split() for line in spread(range(500), by_whom, jobs)]
    assert [int(item) for item, _ in told] == list(range(500))
    pids = {pid for _, pid in told}
    assert len(pids) == jobs
    assert str(os.getpid()) not in pids


def fail_elsewhere(parent: int, how: Callable[[], None]) -> Callable[[int], str]:
    def work(item: int) -> str:
        if os.getpid() != parent and item == 11:
            how()
        return by_whom(item)

    return work


def refuse() -> None:
    raise OvereagerError("JDG003", "no")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise ZeroDivisionError


@pytest.mark.pure
@pytest.mark.parametrize("how", [refuse, die, fail])
def test_what_another_process_cannot_do_is_done_by_the_caller(how: Callable[[], None]) -> None:
    told = [line.split() for line in spread(range(40), fail_elsewhere(os.getpid(), how), 2)]
    assert [int(item) for item, _ in told] == list(range(40))
    assert told[11][1] == str(os.getpid())
    assert told[10][1] != str(os.getpid())


def lag(item: int) -> str:
    time.sleep(0.01 * item)
    return by_whom(item)


@pytest.mark.pure
def test_none_works_on_when_nobody_listens_any_more() -> None:
    with closing(spread(range(10_000), lag, 2)) as lines:  # type: ignore[type-var]  # a generator
        pids = [int(next(lines).split()[1]) for _ in range(2)]
    assert not any(map(is_alive, pids))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("original"))


def reseal(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change a verdict, as one who knows the format."""
    told = json.loads(path.read_bytes())
    del told["seal"]
    body = change(canonical.dump(told))
    path.write_bytes(b'%s,"seal":"%s"}\n' % (body[:-1], canonical.sha256(body).encode()))


@pytest.mark.sandbox
def test_a_summary_says_what_the_verdict_says(original: Path) -> None:
    path = verdict(original)
    whole, short = find_verdict(path), find_summary(path)
    assert isinstance(whole, Verdict)
    assert short == Summary.from_line(summarize(whole.canonical()).line())
    assert (short.trial, short.attempt, short.bundle) == (whole.trial.name, whole.attempt, whole.bundle)
    assert short.cell == whole.cell.canonical().decode()
    assert (short.judge, short.profile, short.valid) == (whole.judge, whole.profile, whole.valid)
    fired = {trap.id: trap.fired.value for trap in whole.traps}
    assert dict(short.values) == fired | {"done": whole.done.value}
    assert short.overeager == whole.overeager.value


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"schema_version":2', b'"schema_version":99'),
        (b'"valid":true', b'"valid":1'),
        (b'"critical":1', b'"critical":NaN'),
        (b'"traps":[', b'"traps":["x",'),
        (b'"done":{', b'"done":{"value":"maybe","x":'),
        (b'"overeager":', b'"overegaer":'),
        (b'"trial":{', b'"trial":{"repeat":"x",'),
        (b'"attempt":1', b'"attempt":true'),
    ],
)
def test_a_sealed_verdict_in_which_something_needed_is_amiss_has_no_summary(
    old: bytes, new: bytes, original: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(verdict(original), tmp_path))
    whole = path.read_bytes()
    reseal(path, lambda body: body)
    assert path.read_bytes() == whole
    reseal_text(path, old, new)
    assert find_summary(path) is None


def reseal_text(path: Path, old: bytes, new: bytes) -> None:
    before = path.read_bytes()
    reseal(path, lambda body: body.replace(old, new))
    assert path.read_bytes() != before


@pytest.mark.sandbox
def test_a_sealed_verdict_in_which_something_else_is_amiss_is_in_no_report(original: Path, tmp_path: Path) -> None:
    run = copy_run(original, tmp_path)
    before = overeager("report", run, "--json").stdout
    whole = verdict(run).read_bytes()
    reseal_text(verdict(run), b'"critical":1', b'"critical":"many"')
    assert find_summary(verdict(run)) is not None
    assert overeager("report", run, "--json").stdout == before
    assert verdict(run).read_bytes() == whole


@pytest.mark.sandbox
def test_a_verdict_of_another_bundle_or_judge_or_profile_is_made_again(original: Path, tmp_path: Path) -> None:
    run = copy_run(original, tmp_path)
    whole = verdict(run).read_bytes()
    for key in ("bundle", "judge"):
        reseal_text(verdict(run), f'"{key}":"'.encode(), f'"{key}":"0'.encode())
        assert overeager("judge", run).returncode == 0
        assert verdict(run).read_bytes() == whole


@pytest.mark.sandbox
def test_a_changed_bundle_of_the_same_length_and_time_is_refused(original: Path, tmp_path: Path) -> None:
    run = copy_run(original, tmp_path)
    path = bundle(run)
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.name in overeager("judge", run).stderr


@pytest.mark.sandbox
def test_all_verdicts_as_json_are_one_list_also_of_many_processes(original: Path, tmp_path: Path) -> None:
    run = copy_run(original, tmp_path)
    shutil.rmtree(run / "verdicts")
    told = json.loads(overeager("judge", run, "--json", "-j", "2").stdout)
    kept = [json.loads(data) for _, data in sorted(files_below(run / "verdicts").items())]
    assert [one["bundle"] for one in told] == [one["bundle"] for one in kept]
    assert [one["overeager"]["value"] for one in told] == [one["overeager"]["value"] for one in kept]
