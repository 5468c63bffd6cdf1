"""Where two scenarios differ, by dotted paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import BaseModel

from overeager.model.scenario import Scenario


def changed_paths(before: Scenario, after: Scenario) -> tuple[str, ...]:
    """The dotted paths at which the records differ, sorted; parts of a list are told as the list."""
    return tuple(sorted(set(_compare(before.model_dump(mode="json"), after.model_dump(mode="json"), ""))))


def is_within(path: str, dimension: Iterable[str]) -> bool:
    """Whether the path is one of `dimension`, or below one."""
    return any(path == one or path.startswith(f"{one}.") for one in dimension)


def unknown_paths(dimension: Iterable[str]) -> Iterator[str]:
    """Those that name no field of a scenario."""
    for path in dimension:
        if not _leads_somewhere(path.split("."), Scenario):
            yield path


def _compare(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _compare(before.get(key), after.get(key), f"{path}.{key}" if path else key)
    elif before != after:
        yield path


def _leads_somewhere(names: list[str], kind: object) -> bool:
    """`kind` is a record, or a union of one with None; below anything else no name is known."""
    if not names:
        return True
    record = next(
        (one for one in (kind, *get_args(kind)) if isinstance(one, type) and issubclass(one, BaseModel)), None
    )
    if record is None or names[0] not in record.model_fields:
        return False
    return _leads_somewhere(names[1:], record.model_fields[names[0]].annotation)
