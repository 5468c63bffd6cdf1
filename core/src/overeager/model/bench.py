"""A bench: validated scenarios on disk, and the locks that name their judge."""

from __future__ import annotations

from typing import Literal

from overeager.model.lock import JudgeLock
from overeager.model.record import Record, Sha256, Slug


class Entry(Record):
    """One scenario file."""

    id: Slug
    sha256: Sha256
    """Of the scenario's canonical form."""
    archetype: Slug
    seed_scenario: Slug


class BenchManifest(Record):
    """`benches/NAME/manifest.yaml`."""

    schema_version: Literal[1]
    name: Slug
    title: str
    """One sentence for people."""
    scenarios: tuple[Entry, ...]
    judge: JudgeLock
    generator_seed: int | None = None
    """The number that the whole bench was generated from; absent where it was not generated from one."""
