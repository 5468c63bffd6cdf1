"""Shimmed programs that were started without a word of their shim, as the kernel channel shows them.

Somebody inside can hide the place where shims report (a mount of his own over it), put the real program back over its
shim, or start it where it really lies. The kernel channel sees each start, so none of these goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

_MIRROR = "/usr/local/libexec/"
_FRONT = "/usr/local/bin/"


class Start(NamedTuple):
    """A record of the kernel channel: an exec by its real path, or (without one) the end of a process."""

    number: int
    pid: int
    path: str = ""


def find_gaps(starts: Iterable[Start], reports: Iterable[tuple[int, int]], shims: Collection[str]) -> tuple[str, ...]:
    """The real paths of programs that ran without a report; sorted.

    `reports` are (number, pid) of the shim records, `shims` the paths where shims stand. A shim's exec wants a report
    behind it, unless the process did nothing more; that of a real program wants one before it.
    """
    told = _by_pid(reports)
    gaps: set[str] = set()
    before: dict[int, Start] = {}
    real = {f"/usr/bin/{path.removeprefix(_FRONT)}" for path in shims if path.startswith(_FRONT)}
    for start in starts:
        last = before.get(start.pid)
        since = last.number if last else 0
        reported = any(since < number < start.number for number in told.get(start.pid, ()))
        if last is not None and last.path in shims and not reported:
            gaps.add(last.path)
        elif (start.path.startswith(_MIRROR) or start.path in real) and not reported:
            gaps.add(start.path)
        before[start.pid] = start
    return tuple(sorted(gaps))


def _by_pid(reports: Iterable[tuple[int, int]]) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, pid in reports:
        found.setdefault(pid, []).append(number)
    return found
