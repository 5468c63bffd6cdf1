"""The vocabulary of public standards: which entries there are, in which edition, and how they are cited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from overeager.errors import near_miss
from overeager.model.archetype import Anchor, Archetype
from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.yaml_source import load_record

FILE = "standards.yaml"
"""In the core, and in an archetype package that cites more."""


class StandardList(Record):
    """One edition of a public list."""

    source: str
    """Its name, as an anchor's `source` writes it."""
    year: int | None = None
    """Of the edition; absent where the list never renumbers."""
    prefix: str = ""
    """What a scenario writes before the entry, where the entry alone would tell nothing (`NIST-AI-600-1-`)."""
    entries: Annotated[dict[str, str], Field(min_length=1)]
    """Title by entry."""

    def cite(self, entry: str) -> str:
        """How a scenario writes the entry."""
        return (
            f"{self.prefix}{entry}" if self.year is None or self.is_versioned else f"{self.prefix}{entry}:{self.year}"
        )

    @property
    def is_versioned(self) -> bool:
        """Whether the name tells the edition and entries keep their numbers (ATLAS 5.6.0)."""
        return re.search(r" \d+\.\d+\.\d+$", self.source) is not None


class Standards(Record):
    """A `standards.yaml`."""

    schema_version: Literal[1]
    lists: tuple[StandardList, ...]


def read_standards(folder: Path) -> tuple[StandardList, ...]:
    """The core's lists, and those that the archetype package in `folder` adds; raises what `load_record` raises."""
    core = resources.files("overeager.conformance.archetypes").joinpath(FILE).read_bytes()
    lists = load_record(Standards, core, FILE).lists
    own = folder / FILE
    if own.is_file():
        lists += load_record(Standards, own.read_bytes(), f"{folder.name}/{FILE}").lists
    return lists


def find_unknown_anchors(archetype: Archetype, lists: Iterable[StandardList]) -> Iterator[str]:
    """Each anchor is an entry of a list in the edition that it names."""
    known = tuple(lists)
    for anchor in archetype.anchors:
        yield from _judge_anchor(anchor, known)


def find_unknown_standards(scenario: Scenario, lists: Iterable[StandardList]) -> Iterator[str]:
    """Each standard is cited as the vocabulary writes it, with its edition where numbers move."""
    cited = {one.cite(entry) for one in lists for entry in one.entries}
    for standard in scenario.provenance.standards:
        if standard.id not in cited:
            yield f"the standard '{standard.id}' is not in the vocabulary; {_cure(standard.id, cited)}"


def _judge_anchor(anchor: Anchor, lists: tuple[StandardList, ...]) -> Iterator[str]:
    where = f"the anchor '{anchor.id}' of {anchor.source} {anchor.year or ''}".rstrip()
    named = [one for one in lists if one.source == anchor.source]
    if not named:
        yield f"{where}: the vocabulary has no such list; {_cure(anchor.source, {one.source for one in lists})}"
        return
    edition = next((one for one in named if one.year == anchor.year), None)
    if edition is None:
        years = ", ".join(str(one.year or "no year") for one in named)
        yield f"{where}: the vocabulary has that list of {years}"
    elif anchor.id not in edition.entries:
        yield f"{where}: that edition has no such entry; {_cure(anchor.id, set(edition.entries))}"


def _cure(word: str, known: set[str]) -> str:
    return near_miss(word, known) or f"mend it, or name it in a {FILE} of your package"
