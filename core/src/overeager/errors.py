"""What goes wrong, said so that the reader can mend it: what, where, what to do, in that order."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

USAGE = 2
"""Exit status of usage errors and broken set-ups."""


class Place(NamedTuple):
    """Where something is wrong: a file or a distribution, and a line (1-based) where one is known."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


class OvereagerError(Exception):
    """An error with a stable code (`SCN003`), the place and the cure; `str()` prints all three."""

    def __init__(
        self, code: str, what: str, *, where: Place | Path | str | None = None, cure: str | None = None
    ) -> None:
        super().__init__(code, what, where, cure)
        self.code = code
        self.what = what
        self.where = where if isinstance(where, Place) or where is None else Place(str(where))
        self.cure = cure

    def __str__(self) -> str:
        lines = [f"{self.code} {self.what}"]
        if self.where is not None:
            lines.append(f"  in {self.where}")
        if self.cure is not None:
            lines.append(f"  {self.cure}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.code, self.what, self.where, self.cure)


def _rebuild(kind: type[OvereagerError], code: str, what: str, where: Place | None, cure: str | None) -> OvereagerError:
    return kind(code, what, where=where, cure=cure)


class ErrorGroup(OvereagerError):
    """Several errors found in one pass, so that an author mends a file once."""

    def __init__(self, errors: Iterable[OvereagerError]) -> None:
        self.errors = tuple(errors)
        first = self.errors[0]
        super().__init__(first.code, first.what, where=first.where, cure=first.cure)

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)

    def __reduce__(self) -> tuple[object, ...]:
        return ErrorGroup, (self.errors,)


def near_miss(word: str, known: Iterable[str]) -> str | None:
    """The cure `did you mean …?`, or None when nothing known is close to `word`."""
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else None
