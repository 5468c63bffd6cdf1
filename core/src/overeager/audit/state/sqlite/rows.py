"""The rows of one table, before and after, as digests: which went, which came, which changed."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from overeager.audit.state.sqlite.file import Column, in_words, quote_name

ROW_LIMIT = 500_000
"""Rows of one table that are compared."""

BYTES_LIMIT = 512 << 20
"""Bytes of one table that are compared: in a damaged file many rows can share one long value."""

SAMPLES = 5

Key: TypeAlias = tuple[object, ...]


class TooMany(Exception):
    """A table holds more than is compared."""


class RowChanges(NamedTuple):
    """How many rows of a table differ, with some of their keys."""

    removed: Sequence[Key]
    added: Sequence[Key]
    changed: Sequence[Key]


class Side(NamedTuple):
    """A table in one state of its database."""

    connection: sqlite3.Connection
    table: str
    columns: Sequence[Column]

    @property
    def key(self) -> tuple[str, ...]:
        """The primary key's columns in its order; empty = it has none."""
        return tuple(column.name for column in sorted(self.columns, key=lambda one: one.key) if column.key)


def compare_rows(old: Side, new: Side) -> RowChanges:
    """The differences in the columns that both states have; raises sqlite3.Error, TooMany.

    By primary key where both have the same one. Where there is none rows are told by their content, and by rowid only
    while that explains no more changes than the content does: VACUUM numbers such rows anew.
    """
    later = {column.name for column in new.columns}
    common = [column.name for column in old.columns if column.name in later]
    if old.key and old.key == new.key:
        return _by_key(_read(old, old.key, common), _read(new, new.key, common))
    before, after = (_by_rowid(side, common) for side in (old, new))
    lost = Counter(before.values()) - Counter(after.values())
    gained = Counter(after.values()) - Counter(before.values())
    told = _by_key(before, after)
    if (len(told.removed) + len(told.changed), len(told.added) + len(told.changed)) == (lost.total(), gained.total()):
        return told
    return RowChanges(list(_some(before, lost)), list(_some(after, gained)), [])


def count_rows(side: Side) -> int:
    """How many rows the table has; raises sqlite3.Error, TooMany."""
    return sum(1 for _ in _rows(side, [column.name for column in side.columns[:1]]))


def sample(keys: Sequence[Key]) -> tuple[str, ...]:
    """Some of the keys as words."""
    return tuple(", ".join(map(in_words, key))[:200] for key in keys[:SAMPLES])


def _by_key(before: Mapping[Key, bytes], after: Mapping[Key, bytes]) -> RowChanges:
    return RowChanges(
        [key for key in before if key not in after],
        [key for key in after if key not in before],
        [key for key, digest in before.items() if key in after and after[key] != digest],
    )


def _by_rowid(side: Side, columns: Sequence[str]) -> dict[Key, bytes]:
    hidden = {column.name.lower() for column in side.columns}
    name = next((name for name in ("rowid", "oid", "_rowid_") if name not in hidden), None)
    if name is not None:
        try:
            return _read(side, (name,), columns)
        except sqlite3.OperationalError:
            pass  # a table without rowids whose key the other state does not share
    return {(at,): _digest(row) for at, row in enumerate(_rows(side, columns))}


def _read(side: Side, key: Sequence[str], columns: Sequence[str]) -> dict[Key, bytes]:
    width = len(key)
    return {row[:width]: _digest(row[width:]) for row in _rows(side, (*key, *columns))}


def _rows(side: Side, columns: Sequence[str]) -> Iterator[Key]:
    """From the table itself: an index that has been tampered with may tell other rows."""
    names = ", ".join(map(quote_name, columns)) or "NULL"
    cursor = side.connection.execute(f"SELECT {names} FROM {quote_name(side.table)} NOT INDEXED")
    room = BYTES_LIMIT
    for number, row in enumerate(cursor):
        room -= sum(len(value) for value in row if isinstance(value, bytes))
        if number >= ROW_LIMIT or room < 0:
            raise TooMany(f"{side.table} holds more than is compared")
        yield row


def _digest(row: Key) -> bytes:
    made = hashlib.blake2b(digest_size=16)
    for value in row:
        data = value if isinstance(value, bytes) else repr(value).encode()
        made.update(b"%s %d " % (type(value).__name__.encode(), len(data)))
        made.update(data)
    return made.digest()


def _some(rows: Mapping[Key, bytes], wanted: Counter[bytes]) -> Iterator[Key]:
    room = Counter(wanted)
    for key, digest in rows.items():
        if room[digest] > 0:
            room[digest] -= 1
            yield key
