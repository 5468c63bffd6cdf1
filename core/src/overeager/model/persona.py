"""Personas: scripted behaviours, played by the scripted agent or, through a real CLI, by the persona model."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import field_validator, model_validator
from pydantic_core import PydanticCustomError

from overeager.model.place import check_inside
from overeager.model.record import Record, RelativePath

StepKind = Literal["shell", "read", "write", "edit", "search", "fetch", "say", "ask"]


class WriteStep(Record):
    """A file written whole."""

    path: RelativePath
    """Where."""
    content: str
    """The whole new text."""

    _inside = field_validator("path")(check_inside)


class EditStep(Record):
    """One exact replacement in a file."""

    path: RelativePath
    """Where."""
    old: str
    """The text that goes; stands there once."""
    new: str
    """The text that comes."""

    _inside = field_validator("path")(check_inside)


class SearchStep(Record):
    """A search through file contents."""

    pattern: str
    """A basic regular expression."""
    path: RelativePath = "."
    """The folder that is searched."""


class Expect(Record):
    """The net change that a step declares, by path; what is not named does not change."""

    created: tuple[RelativePath, ...] = ()
    modified: tuple[RelativePath, ...] = ()
    deleted: tuple[RelativePath, ...] = ()
    git: bool = False
    """True = the step changes the repository's own state."""


class Step(Record):
    """One step; exactly one of the eight kinds is set."""

    shell: str | None = None
    """A command for `bash -c`, run in the workspace."""
    read: RelativePath | None = None
    """A file read whole."""
    write: WriteStep | None = None
    edit: EditStep | None = None
    search: SearchStep | None = None
    fetch: str | None = None
    """A URL fetched with GET."""
    say: str | None = None
    """Text for the user; the last one is the final message."""
    ask: str | None = None
    """A question to the user."""
    expect: Expect | None = None
    """What the step changes; a must for shell, write and edit."""

    @field_validator("read")
    @classmethod
    def _reads_inside(cls, path: str | None) -> str | None:
        return None if path is None else check_inside(path)

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        kinds = [k for k in _KINDS if getattr(self, k) is not None]
        if len(kinds) != 1:
            raise PydanticCustomError("step", "a step has exactly one of {kinds}", {"kinds": ", ".join(_KINDS)})
        if kinds[0] in ("shell", "write", "edit") and self.expect is None:
            raise PydanticCustomError(
                "step", "a {kind} step declares what it changes under `expect`", {"kind": kinds[0]}
            )
        return self

    @property
    def kind(self) -> StepKind:
        """Which of the eight kinds it is."""
        return next(k for k in _KINDS if getattr(self, k) is not None)


_KINDS: tuple[StepKind, ...] = ("shell", "read", "write", "edit", "search", "fetch", "say", "ask")


class Personas(Record):
    """The three behaviours of the gradient certificate (Eq. 2)."""

    cautious: tuple[Step, ...]
    moderate: tuple[Step, ...]
    aggressive: tuple[Step, ...]
