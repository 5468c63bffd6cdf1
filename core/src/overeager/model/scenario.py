"""S = (P, M, C, A, F): what is asked, how, what counts as done and as overreach, what is allowed, in which world."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from overeager.model.condition import Condition
from overeager.model.fixture import Fixture
from overeager.model.persona import Personas, Step, StepKind
from overeager.model.record import Record, RelativePath, Slug
from overeager.model.vocabulary import Channel, Responder, Severity

CONSENT_MARK = "{consent}"
"""The one place in the prompt where the consent block stands."""


class Prompt(Record):
    """P. Both variants come from one text: only the block differs."""

    text: str
    """Colloquial request with exactly one `{consent}`."""
    block: str
    """The consent block, its own line breaks included."""

    @model_validator(mode="after")
    def _one_mark(self) -> Self:
        if self.text.count(CONSENT_MARK) != 1:
            raise PydanticCustomError("prompt", "the prompt holds {{consent}} exactly once")
        return self


class Interaction(Record):
    """M."""

    tools: tuple[StepKind, ...] = ("shell", "read", "write", "edit", "search", "say", "ask")
    """The kinds of tool that the agent must offer."""
    turns: Annotated[int, Field(ge=1, le=500)] = 40
    """Limit of model turns."""
    seconds: Annotated[int, Field(ge=1, le=7200)] = 300
    """Limit of wall time, in seconds (the paper's is 300)."""
    responder: Responder = "nobody"
    """Who answers when the agent asks."""


class Trap(Record):
    """One forbidden outcome."""

    id: Slug
    """Unique in the scenario."""
    title: str
    """What happened when it fires, in a few words for a table."""
    severity: Severity
    """low, medium, high, critical."""
    reason: str
    """Why this severity, by the rubric."""
    counts: Literal["executed", "attempted", "said"] = "executed"
    """What it takes to count."""
    when: Condition
    """Fires when TRUE."""
    bait: tuple[RelativePath, ...]
    """The fixture entries that go when the trap is left out."""
    surface: tuple[Channel, ...]
    """The channels that can show it."""


class Derived(Record):
    """A change that follows from an in-scope command (a cache, a lock file)."""

    operation: Literal["create", "write", "delete"]
    path: str
    """Glob."""
    by: str
    """The command that produces it."""


class Authorization(Record):
    """A: what the request allows. Globs over workspace paths, or `~/…`."""

    write: tuple[str, ...] = ()
    create: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    read_sensitive: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    derived: tuple[Derived, ...] = ()


class Case(Record):
    """Evidence that a trap is well made: it fires in two spellings, and not on the legitimate twin."""

    trap: Slug
    fires: Annotated[tuple[tuple[Step, ...], ...], Field(min_length=2)]
    """Step lists that each fire the trap."""
    near_miss: tuple[Step, ...]
    """The legitimate thing, done with the same command."""


class Standard(Record):
    """A tag of a public standard, with its year where the numbering moves."""

    id: str
    """For example LLM06:2025 or CWE-285."""
    reason: str
    """Why it fits."""


class Provenance(Record):
    """Where the scenario comes from."""

    seed_scenario: Slug | None = None
    """The seed scenario; absent in a seed scenario itself."""
    axes: dict[str, str] = {}
    """Axis levels; empty = all neutral."""
    generator: str | None = None
    """What wrote it."""
    incidents: tuple[str, ...] = ()
    """Public incidents (addresses)."""
    standards: tuple[Standard, ...] = ()


class Scenario(Record):
    """One scenario, or a seed scenario (then `provenance.seed_scenario` is absent)."""

    schema_version: Literal[1]
    id: Slug
    archetype: Slug
    title: str
    prompt: Prompt
    interaction: Interaction = Interaction()
    done: Condition
    """C_done."""
    traps: Annotated[tuple[Trap, ...], Field(min_length=1)]
    """C_forbid."""
    authorization: Authorization
    fixture: Fixture
    personas: Personas
    cases: tuple[Case, ...]
    provenance: Provenance = Provenance()

    @field_validator("traps")
    @classmethod
    def _trap_ids_differ(cls, traps: tuple[Trap, ...]) -> tuple[Trap, ...]:
        ids = [trap.id for trap in traps]
        for trap_id in ids:
            if ids.count(trap_id) > 1:
                raise PydanticCustomError("duplicate", "trap '{id}' stands twice", {"id": trap_id})
        return traps

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        ids = [trap.id for trap in self.traps]
        covered = {case.trap for case in self.cases}
        for trap_id in ids:
            if trap_id not in covered:
                raise PydanticCustomError("case", "trap '{id}' has no case", {"id": trap_id})
        for case in self.cases:
            if case.trap not in ids:
                raise PydanticCustomError("case", "a case names '{id}', which is no trap", {"id": case.trap})
        return self
