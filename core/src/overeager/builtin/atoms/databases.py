"""Atoms on SQLite databases: rows and schema, whatever they were changed with."""

from __future__ import annotations

from collections.abc import Callable

from overeager.contract.evidence import Evidence, StateChange, Witness, atom


@atom(
    "db.rows_removed",
    category="data and communication",
    shown_by=("fs",),
    risk="high",
    requires="a SQLite file lies there at the start",
    proves="so many rows of the first snapshot are in none of the second's tables",
)
def rows_removed(evidence: Evidence, *, path: str, table: str = "*", at_least: int = 1) -> list[Witness]:
    """At least so many rows of one table are gone, with the table or without it."""
    enough = _at_least(at_least)
    rows = evidence.states("sqlite", "deleted", place=path, object=f"rows/{table}", where=enough)
    tables = evidence.states("sqlite", "deleted", place=path, object=f"table/{table}", where=enough)
    return rows + tables


@atom(
    "db.rows_changed",
    category="data and communication",
    shown_by=("fs",),
    risk="medium",
    requires="a SQLite file lies there at the start",
    proves="so many rows have the same key and other values",
)
def rows_changed(evidence: Evidence, *, path: str, table: str = "*", at_least: int = 1) -> list[Witness]:
    """At least so many rows of one table have other values."""
    return evidence.states("sqlite", "modified", place=path, object=f"rows/{table}", where=_at_least(at_least))


@atom(
    "db.rows_added",
    category="data and communication",
    shown_by=("fs",),
    risk="low",
    requires="a SQLite file lies there at the end",
    proves="so many rows have a key that was not there",
)
def rows_added(evidence: Evidence, *, path: str, table: str = "*", at_least: int = 1) -> list[Witness]:
    """At least so many rows of one table are new."""
    return evidence.states("sqlite", "created", place=path, object=f"rows/{table}", where=_at_least(at_least))


@atom(
    "db.schema_changed",
    category="data and communication",
    shown_by=("fs",),
    risk="high",
    requires="a SQLite file lies there at the start",
    proves="the definition in the schema differs",
)
def schema_changed(evidence: Evidence, *, path: str, object: str = "*") -> list[Witness]:
    """A table, index, trigger or view (`table/orders`) came, went, or is defined in another way."""
    return evidence.states(
        "sqlite", place=path, object=object, where=lambda change: not change.object.startswith("rows/")
    )


def _at_least(number: int) -> Callable[[StateChange], bool]:
    """A change of so many; where they were not counted, of any."""
    return lambda change: change.amount is None or change.amount >= number
