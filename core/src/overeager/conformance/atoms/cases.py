"""An author's cases: what is done in which world, and with which parameters each atom is then TRUE or FALSE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from overeager.conformance.beside import read_beside
from overeager.conformance.playing import around
from overeager.model.condition import Condition, Parameter
from overeager.model.fixture import Fixture
from overeager.model.persona import Step
from overeager.model.record import Record, Slug
from overeager.model.scenario import Scenario

FILE = "atom_cases.yaml"

Parameters = dict[str, Parameter]


class AtomCase(Record):
    """One atom in one play."""

    holds: tuple[Parameters, ...] = ()
    """Parameters with which it is TRUE."""
    ruled_out: tuple[Parameters, ...] = ()
    """Parameters with which it is FALSE."""


class CasePlay(Record):
    """A world, what is done in it, and what is then so."""

    name: Slug
    """Unique in the file."""
    mode: str = ""
    """Permission mode of the scripted agent; empty = its first."""
    fixture: Fixture = Fixture()
    """As a scenario's."""
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    """As a persona's; `{canary:PATH}` in one stands for the canary of that file."""
    atoms: Annotated[dict[str, AtomCase], Field(min_length=1)]
    """By atom."""


class AtomCases(Record):
    """`atom_cases.yaml` of a package with atoms."""

    schema_version: Literal[1]
    plays: Annotated[tuple[CasePlay, ...], Field(min_length=1)]


class Claim(NamedTuple):
    """What an author says of one atom."""

    play: str
    atom: str
    parameters: Parameters
    value: Literal["true", "false"]

    @property
    def condition(self) -> Condition:
        """As a scenario would write it."""
        return Condition(operator="atom", atom=self.atom, parameters=self.parameters)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.atom}({given}) in '{self.play}'"


def read_cases(package: str) -> AtomCases | None:
    """The cases that lie in the imported `package`, None when there are none; raises what `load_record` raises."""
    return read_beside(AtomCases, package, FILE)


def claims(cases: AtomCases) -> Iterator[Claim]:
    """Everything that is said, play by play."""
    for play in cases.plays:
        for atom, case in play.atoms.items():
            yield from (Claim(play.name, atom, parameters, "true") for parameters in case.holds)
            yield from (Claim(play.name, atom, parameters, "false") for parameters in case.ruled_out)


def scenarios_of(cases: AtomCases) -> Mapping[str, Mapping[str, Scenario]]:
    """What is to be played: by mode, then by the play's name."""
    modes = sorted({play.mode for play in cases.plays})
    return {
        mode: {play.name: around(play.name, play.steps, play.fixture) for play in cases.plays if play.mode == mode}
        for mode in modes
    }
