"""A check, what came of it, and how a list of them is run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Generic, Literal, NamedTuple, TypeVar

from overeager.errors import near_miss

S = TypeVar("S")

Status = Literal["passed", "failed", "skipped", "known gap"]


class Unavailable(Exception):
    """Raised by a check that cannot be made here; `str()` says what is missing and how to get it."""


class Check(NamedTuple, Generic[S]):
    """One promise of a plugin, and how it is tried."""

    code: str
    """`atom-monotone`: the kind, then what is promised. Never reused for another promise."""
    promise: str
    """One sentence that holds for a plugin that passes."""
    why: str
    """What goes wrong in a measurement without it, and how an author usually mends it."""
    find_faults: Callable[[S], Iterator[str]]
    """A sentence for each fault, with what was seen; none = the promise holds. Raises Unavailable."""


class Outcome(NamedTuple):
    """What came of one check."""

    code: str
    promise: str
    status: Status
    said: tuple[str, ...]
    """The faults, the reason of a skip, or the declared reason of a known gap followed by its faults."""


def run_checks(checks: Iterable[Check[S]], subject: S, known_gaps: Mapping[str, str]) -> Iterator[Outcome]:
    """Make each check once, in order; a fault that is declared in `known_gaps` (code to reason) is no failure.

    A declared gap that is closed, and one whose code no check has, are failures: a list of gaps stays true.
    """
    checks = tuple(checks)
    for check in checks:
        yield _judge(check, subject, known_gaps.get(check.code))
    yield from check_gaps({check.code for check in checks}, known_gaps)


def failed(outcomes: Iterable[Outcome]) -> bool:
    """Whether one of them failed."""
    return any(outcome.status == "failed" for outcome in outcomes)


def _judge(check: Check[S], subject: S, gap: str | None) -> Outcome:
    try:
        faults = tuple(check.find_faults(subject))
    except Unavailable as reason:
        return Outcome(check.code, check.promise, "skipped", (str(reason),))
    except Exception as error:  # noqa: BLE001 - what a plugin raises while it is tried is a fault of it
        faults = (f"raises {type(error).__name__}: {error}",)
    if gap is None:
        return Outcome(check.code, check.promise, "failed" if faults else "passed", faults)
    if faults:
        return Outcome(check.code, check.promise, "known gap", (gap, *faults))
    closed = f"is declared as a known gap ({gap}) and holds: take it out of `known_gaps`"
    return Outcome(check.code, check.promise, "failed", (closed,))


def check_gaps(codes: Collection[str], known_gaps: Mapping[str, str]) -> Iterator[Outcome]:
    """A failure for each known gap whose code no check has."""
    for code in sorted(set(known_gaps) - set(codes)):
        said = f"`known_gaps` names '{code}', which is no check; {near_miss(code, codes) or 'take it out'}"
        yield Outcome(code, "Every known gap is a check's code.", "failed", (said,))
