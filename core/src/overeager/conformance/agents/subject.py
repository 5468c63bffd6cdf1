"""What the checks of an agent look at: the adapter, its recorded streams, and trials that are made when asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from overeager.conformance.agents.trials import Trials
from overeager.contract.agent import AgentAdapter
from overeager.loading.discover import Found

RECORDINGS = Path("tests", "streams")
"""Where a plugin's project keeps recorded streams: any folders below it, in each a file `STREAM.EXTENSION`."""


class Recording(NamedTuple):
    """The raw streams of one session of the agent."""

    name: str
    members: Mapping[str, bytes]
    """By the adapter's name of the stream, as `parse` gets them."""


class Subject(NamedTuple):
    """An adapter under check."""

    found: Found
    adapter: AgentAdapter
    recordings: tuple[Recording, ...]
    """Kept by the author; empty = none were found."""
    trials: Trials
    """Sessions in the sandbox; each is played once, whichever check asks first."""


def make_subject(found: Found, adapter: AgentAdapter, recordings: Path | None = None) -> Subject:
    """The adapter with the streams below `recordings`, by default those in the project that it is imported from."""
    folder = recordings or _find_recordings(found)
    return Subject(found, adapter, tuple(_read(adapter, folder) if folder else ()), Trials(found, adapter))


def recorded(subject: Subject) -> tuple[Recording, ...]:
    """The author's recordings or, where there are none, the streams of sessions in the sandbox; raises Unavailable."""
    if subject.recordings:
        return subject.recordings
    return tuple(Recording(f"a session of {one.version}", one.streams) for one in subject.trials.any_sessions())


def _find_recordings(found: Found) -> Path | None:
    """Below the nearest folder above the module that has a pyproject.toml; an installed wheel has none."""
    file = getattr(sys.modules.get(found.module), "__file__", None)
    for folder in Path(file).resolve().parents if file else ():
        if (folder / "pyproject.toml").is_file():
            return folder / RECORDINGS if (folder / RECORDINGS).is_dir() else None
    return None


def _read(adapter: AgentAdapter, folder: Path) -> Iterator[Recording]:
    streams = {stream.name for stream in adapter.streams}
    for session in sorted({path.parent for path in folder.rglob("*") if path.is_file()}):
        members = {path.stem: path.read_bytes() for path in sorted(session.iterdir()) if path.stem in streams}
        if members:
            yield Recording(session.relative_to(folder).as_posix(), members)
