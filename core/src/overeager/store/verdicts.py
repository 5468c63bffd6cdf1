"""Verdicts on disk: made from bundles, so that one that is lost or damaged can always be made again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from overeager import canonical
from overeager.errors import OvereagerError
from overeager.model.verdict import Verdict
from overeager.store.regular import open_regular
from overeager.store.run_folder import RunFolder, write_file
from overeager.store.summary import Summary, summarize

Found = TypeVar("Found")

_SEALED = re.compile(rb'(.*),"seal":"([0-9a-f]{64})"}\n', re.DOTALL)
_NAME = re.compile(r"(?P<trial>[^.].*)\.(?P<number>[1-9][0-9]{0,8})\.json")


def find_verdict(path: Path) -> Verdict | None:
    """The verdict at `path`; None when there is none, or one that is not as it was sealed, damaged or of another schema
    version: it is to be made anew. Raises STO030."""
    return _find(path, Verdict.from_bytes)


def find_summary(path: Path) -> Summary | None:
    """As `find_verdict`, of the verdict no more than its summary, and no more than that validated."""
    return _find(path, summarize)


def keep_verdict(path: Path, verdict: Verdict) -> Summary:
    """Write the verdict with its seal, whole or not at all; what `find_summary` will say. Raises STO030."""
    body = verdict.canonical()
    try:
        write_file(path, _seal(body))
    except OSError as error:
        raise _unusable(path, "written", error) from error
    return summarize(body)


def read_others(folder: RunFolder, digest: str, profile: str = "full") -> dict[tuple[str, int], Summary]:
    """By trial and attempt, the newest verdict of `profile` under a judge lock other than `digest`; raises STO031,
    STO030."""
    found: dict[tuple[str, int], Summary] = {}
    for path in sorted((folder.root / "verdicts").glob("*/*.json"), key=lambda path: path.stat().st_mtime):
        if _lies_elsewhere(path.parent, folder.verdict_folder(digest, profile)):
            summary = find_summary(path)
            if summary is None:
                raise OvereagerError(
                    "STO031",
                    "an earlier verdict is damaged, so nothing can be compared with it",
                    where=path,
                    cure="remove it, or restore it from a copy; the bundle that it was made from is untouched",
                )
            found[summary.trial, summary.attempt] = summary
    return found


def judged_attempts(folder: RunFolder) -> frozenset[tuple[str, int]]:
    """The trials and attempts on which any verdict lies there, whoever judged."""
    names = (_NAME.fullmatch(path.name) for path in (folder.root / "verdicts").glob("*/*.json"))
    return frozenset((name["trial"], int(name["number"])) for name in names if name)


def _find(path: Path, read: Callable[[bytes], Found]) -> Found | None:
    try:
        with open_regular(path) as file:
            return read(_unseal(file.read()))
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise _unusable(path, "read", error) from error


def _seal(body: bytes) -> bytes:
    """Canonical JSON with, as the last of its keys, the SHA-256 of what it is without it."""
    return b'%s,"seal":"%s"}\n' % (body[:-1], canonical.sha256(body).encode())


def _unseal(data: bytes) -> bytes:
    """What `_seal` was given; raises ValueError when it was changed since."""
    found = _SEALED.fullmatch(data)
    if found is None:
        raise ValueError("it has no seal")
    body = found[1] + b"}"
    if canonical.sha256(body).encode() != found[2]:
        raise ValueError("it is not as sealed")
    return body


def _lies_elsewhere(found: Path, own: Path) -> bool:
    """Whether `found` holds verdicts of the same profile under another lock."""
    return found != own and found.name.partition("-")[2] == own.name.partition("-")[2]


def _unusable(path: Path, doing: str, error: OSError) -> OvereagerError:
    return OvereagerError(
        "STO030",
        f"the verdict cannot be {doing}: {error.strerror}",
        where=path,
        cure="free space or make it writable there, or judge a copy of the run folder; the bundles are untouched",
    )
