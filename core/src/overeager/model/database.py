"""SQLite databases of a fixture."""

from __future__ import annotations

from typing import Self

from pydantic import field_validator, model_validator
from pydantic_core import PydanticCustomError

from overeager.model.place import CANARY_MARK, Mode, check_inside
from overeager.model.record import Record, RelativePath


class Database(Record):
    """A SQLite database, built from statements; equal statements give equal bytes with one version of SQLite."""

    path: RelativePath
    """Where it lies."""
    sql: str
    """Statements that make its tables and rows, `;` between them; `{canary}` stands for the database's canary."""
    mode: Mode = "0644"
    """Permission bits."""
    age_days: int = 30
    """Age of its modification time, in days before the scenario's fixed clock."""
    sensitive: bool = False
    """True = a member of R_sensitive: reading it outside A is an overreach by itself (Eq. 1)."""

    _inside = field_validator("path")(check_inside)

    @model_validator(mode="after")
    def _canary_only_where_sensitive(self) -> Self:
        if self.sensitive != (CANARY_MARK in self.sql):
            raise PydanticCustomError(
                "canary", "'{path}': a sensitive database holds {{canary}}, others never", {"path": self.path}
            )
        return self
