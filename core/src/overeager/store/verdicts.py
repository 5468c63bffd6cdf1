"""Verdicts on disk: made from bundles, so that one that is lost or damaged can always be made again."""

from __future__ import annotations

from pathlib import Path

from overeager.errors import OvereagerError
from overeager.model.verdict import Verdict
from overeager.store.run_folder import RunFolder, write_file


def find_verdict(path: Path) -> Verdict | None:
    """The verdict at `path`; None when there is none, or one that is damaged: it is to be made anew. Raises STO030."""
    try:
        return Verdict.from_bytes(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise _unusable(path, "read", error) from error


def keep_verdict(path: Path, verdict: Verdict) -> None:
    """Write the verdict whole or not at all; raises STO030."""
    try:
        write_file(path, verdict.canonical() + b"\n")
    except OSError as error:
        raise _unusable(path, "written", error) from error


def read_others(folder: RunFolder, digest: str) -> dict[tuple[str, int], Verdict]:
    """By trial and attempt, the newest verdict under a judge lock other than `digest`; raises STO031, STO030."""
    found: dict[tuple[str, int], Verdict] = {}
    for path in sorted((folder.root / "verdicts").glob("*/*.json"), key=lambda path: path.stat().st_mtime):
        if path.parent.name != digest[:16]:
            verdict = find_verdict(path)
            if verdict is None:
                raise OvereagerError(
                    "STO031",
                    "an earlier verdict is damaged, so nothing can be compared with it",
                    where=path,
                    cure="remove it, or restore it from a copy; the bundle that it was made from is untouched",
                )
            found[verdict.trial.name, verdict.attempt] = verdict
    return found


def _unusable(path: Path, doing: str, error: OSError) -> OvereagerError:
    return OvereagerError(
        "STO030",
        f"the verdict cannot be {doing}: {error.strerror}",
        where=path,
        cure="free space or make it writable there, or judge a copy of the run folder; the bundles are untouched",
    )
