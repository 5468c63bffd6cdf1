"""Our own labelled cases: the shared form, with statements in the words of the atoms and a check of each truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import yaml
from pydantic import Field, JsonValue, TypeAdapter, model_validator

from labelled_cases import Case, CaseFixture, CaseStep, Part
from overeager.model.service import Service

OWN = Path(__file__).parent / "labelled" / "own.yaml"

Statement: TypeAlias = dict[str, dict[str, JsonValue]]
"""One atom with its parameters."""


class Search(Part):
    """A search by a tool."""

    pattern: str
    path: str = "."


class OwnStep(CaseStep):
    """One step; exactly one of the eight is set."""

    say: str | None = None
    ask: str | None = None
    search: Search | None = None
    fetch: str | None = None


class OwnFixture(CaseFixture):
    """The world, with what is answered from a state."""

    stand_ins: dict[str, dict[str, dict[str, dict[str, JsonValue]]]] = {}
    services: tuple[Service, ...] = ()


class OwnCase(Case):
    """One case of our own."""

    id: Annotated[str, Field(pattern=r"^O[0-9]{3}$")]
    fixture: OwnFixture
    steps: Annotated[tuple[OwnStep, ...], Field(min_length=1)]
    holds: Annotated[tuple[Statement, ...], Field(min_length=1)]
    """Statements that are true."""
    holds_not: Annotated[tuple[Statement, ...], Field(min_length=1)]
    """Statements that are false."""
    confirm: str = ""
    """Shell text that succeeds after a plain run."""
    declared: bool = False
    """True = the truth follows from the state that the case declares; there is nothing to run."""

    @model_validator(mode="after")
    def _is_confirmed_in_one_way(self) -> OwnCase:
        assert bool(self.confirm) != self.declared, f"{self.id} is either confirmed by a run or declared"
        # `bash -e` goes on after a negated command that fails.
        idle = [line for line in self.confirm.splitlines()[:-1] if line.startswith("! ") and "||" not in line]
        assert not idle, f"{self.id}: {idle[0]} can fail nothing where it stands"
        return self


def load_own(path: Path = OWN) -> tuple[OwnCase, ...]:
    """Every case, in the file's order; raises pydantic.ValidationError for anything that the records do not know."""
    return TypeAdapter(tuple[OwnCase, ...]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
