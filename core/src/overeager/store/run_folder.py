"""A run on disk: its plan, its sealed attempts, its verdicts."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from overeager.errors import OvereagerError, Place
from overeager.model.ending import FLAGS
from overeager.model.run import RunPlan
from overeager.store.bench import copy_bench
from overeager.store.bundle import Bundle, open_bundle
from overeager.store.removal import remove_tree

PLAN = "run.json"

_ATTEMPT = re.compile(r"(?P<trial>[^.].*)\.(?P<number>[1-9][0-9]*)\.zip")


class RunFolder(NamedTuple):
    """Where everything of one run lies."""

    root: Path

    @property
    def bundles(self) -> Path:
        """The folder of sealed attempts."""
        return self.root / "bundles"

    @property
    def bench(self) -> Path:
        """Where the copy of the bench lies."""
        return self.root / "bench"

    def bundle_path(self, trial: str, attempt: int) -> Path:
        """The bundle of one attempt; `trial` is `TrialId.name`."""
        return self.bundles / f"{trial}.{attempt}.zip"

    def verdict_folder(self, judge: str, profile: str = "full") -> Path:
        """Where the verdicts lie under the judge lock with the digest `judge`; those of each profile by themselves."""
        return self.root / "verdicts" / (judge[:16] if profile == "full" else f"{judge[:16]}-{profile}")

    def verdict_path(self, judge: str, trial: str, attempt: int, profile: str = "full") -> Path:
        """The verdict on one attempt."""
        return self.verdict_folder(judge, profile) / f"{trial}.{attempt}.json"


class SealedAttempt(NamedTuple):
    """A bundle that was sealed; whether it still is as sealed is told when it is opened."""

    trial: str
    attempt: int
    path: Path


def create_run(root: Path, plan: RunPlan, bench: Path | None = None) -> RunFolder:
    """A new run folder with a copy of `bench`; the plan comes last, so that a folder with a plan is whole.

    Raises STO024 when a run lies there, STO025 when it cannot be written, STO028 when another runner is about to,
    STO029 when something that is not ours stands in the way.
    """
    folder = RunFolder(root)
    try:
        folder.bundles.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            if (root / PLAN).exists():
                raise OvereagerError(
                    "STO024", "a run lies there already", where=root, cure="go on with --resume, or give another --out"
                )
            if bench is not None:
                _lay_bench(folder, bench)
            write_file(root / PLAN, plan.canonical() + b"\n")
    except OSError as error:
        raise OvereagerError(
            "STO025",
            f"the run folder cannot be written: {error.strerror}",
            where=root,
            cure="give --out a folder that you may write and that has room",
        ) from error
    return folder


def _lay_bench(folder: RunFolder, bench: Path) -> None:
    if folder.bench.exists():
        raise OvereagerError(
            "STO029", "something of that name is there, and no run", where=folder.bench, cure="give --out a new folder"
        )
    draft = folder.root / ".bench.part"
    remove_tree(draft)  # of a runner that died
    copy_bench(bench, draft)
    draft.rename(folder.bench)


def open_run(root: Path) -> RunFolder:
    """The run folder at `root`; raises STO026 when there is no run."""
    if not (root / PLAN).is_file():
        raise OvereagerError(
            "STO026", f"there is no run here: no file {PLAN}", where=root, cure="name the folder given to run as --out"
        )
    return RunFolder(root)


def read_plan(folder: RunFolder) -> RunPlan:
    """The plan of the run; raises STO027 when it cannot be read."""
    path = folder.root / PLAN
    try:
        return RunPlan.from_bytes(path.read_bytes())
    except (ValidationError, OSError) as error:
        detail = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error.strerror)
        raise OvereagerError(
            "STO027", f"the run's plan cannot be read: {detail}", where=Place(str(path)), cure="start a new run"
        ) from error


@contextmanager
def locked(folder: RunFolder) -> Iterator[RunFolder]:
    """Hold the run folder, so that one runner writes it; drafts of a dead one are removed. Raises STO028, STO025."""
    try:
        lock = os.open(folder.root / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise OvereagerError(
            "STO025",
            f"the run folder cannot be written: {error.strerror}",
            where=folder.root,
            cure="make it writable for you",
        ) from error
    try:
        _lock_at_once(lock, folder)
        for draft in folder.bundles.glob(".*.part"):
            draft.unlink()
        yield folder
    finally:
        os.close(lock)


def _lock_at_once(lock: int, folder: RunFolder) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OvereagerError(
            "STO028", "another runner writes this run folder", where=folder.root, cure="wait until it has ended"
        ) from error


def sealed_attempts(folder: RunFolder) -> tuple[SealedAttempt, ...]:
    """All sealed attempts, sorted by trial and number; drafts and strangers are left out."""
    found = []
    for path in folder.bundles.iterdir() if folder.bundles.is_dir() else ():
        if match := _ATTEMPT.fullmatch(path.name):
            found.append(SealedAttempt(match["trial"], int(match["number"]), path))
    return tuple(sorted(found))


def open_attempt(sealed: SealedAttempt) -> Bundle:
    """The bundle of `sealed`; raises BUN007 when it is that of another attempt, and what `open_bundle` raises."""
    bundle = open_bundle(sealed.path)
    trial, attempt = bundle.manifest.trial.name, bundle.manifest.attempt
    if (trial, attempt) != (sealed.trial, sealed.attempt):
        raise OvereagerError(
            "BUN007",
            f"the bundle '{sealed.path.name}' holds attempt {attempt} of '{trial}'",
            where=sealed.path,
            cure="give it back its name, or remove it",
        )
    return bundle


def done_trials(folder: RunFolder) -> frozenset[str]:
    """The trials that have a sealed attempt whose ending is not to be retried; raises BUN… for a damaged one."""
    return frozenset(one.trial for one in sealed_attempts(folder) if _is_final(one.path))


def is_done(folder: RunFolder, trial: str) -> bool:
    """Whether `trial` has a sealed attempt whose ending is not to be retried; raises BUN… for a damaged one."""
    return any(_is_final(one.path) for one in sealed_attempts(folder) if one.trial == trial)


def next_attempt(folder: RunFolder, trial: str) -> int:
    """The number of the attempt to come; attempts that were not sealed do not count."""
    return max((one.attempt for one in sealed_attempts(folder) if one.trial == trial), default=0) + 1


def write_file(path: Path, data: bytes) -> None:
    """Write a small file whole or not at all; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")  # two judges may write one verdict
    try:
        draft.write_bytes(data)
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)


def _is_final(path: Path) -> bool:
    return not FLAGS[open_bundle(path).manifest.ending.name].retried
