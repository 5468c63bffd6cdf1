"""Git's reflogs, read without git: the ways back to what no ref names any more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_LINE = re.compile(rb"(?:[0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (.*)", re.DOTALL)


class Step(NamedTuple):
    """One line of a reflog: where the ref went; the old value is left out, since an expiry rewrites it."""

    to: str
    told: bytes
    """Who, when and why."""


def read_reflog(data: bytes) -> tuple[Step, ...]:
    """The steps, oldest first; lines that are none are left out, as git leaves them."""
    found = (_LINE.fullmatch(line) for line in data.split(b"\n"))
    return tuple(Step(match[1].decode(), match[2]) for match in found if match is not None)


def lost_steps(before: Sequence[Step], after: Sequence[Step]) -> int:
    """How many of the first steps are there no more."""
    if tuple(after[: len(before)]) == tuple(before):
        return 0
    return (Counter(before) - Counter(after)).total()
