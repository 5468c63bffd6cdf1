"""Importing the adapter: nothing happens, and it does not take long."""

from __future__ import annotations

from collections.abc import Iterator

from overeager.conformance.agents.apart import call_apart
from overeager.conformance.agents.subject import Subject
from overeager.conformance.check import Check

_TRIES = 2

SLOWEST = 1.0
"""Seconds that an import may always take; far more than tables and small functions need."""

_TIMES = 4
"""On a machine that is slow: as many times what the core's own door took in the same process."""


def find_effects(subject: Subject) -> Iterator[str]:
    """What the import left behind, and what it printed."""
    told = call_apart(subject.found)
    if told.failure:
        yield f"importing it alone {told.failure}"
        return
    yield from (f"importing it {effect}" for effect in told.effects)
    if told.printed:
        yield f"importing it prints {told.printed.splitlines()[0][:80]!r}"


def find_slowness(subject: Subject) -> Iterator[str]:
    """One quick try is enough: what stands in the way of an import is seldom the plugin's."""
    own = subject.found.module.partition(".")[0]
    fault = ""
    for _ in range(_TRIES):
        told = call_apart(subject.found)
        if told.failure:
            yield f"importing it alone {told.failure}"
            return
        if told.seconds <= max(SLOWEST, _TIMES * told.own):
            return
        brought = ", ".join(name for name in told.brought if name != own)
        fault = f"importing it takes {told.seconds:.1f} s{f' and brings {brought}' if brought else ''}"
    yield fault


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "agent-import-quiet",
        "Importing the adapter changes nothing: no file, process, socket, thread, variable, and no output.",
        "Every command imports adapters, in processes that are forked later. Do the work in a function, when it is "
        "asked for; a table from a file can be a Mapping that reads it on access.",
        find_effects,
    ),
    Check(
        "agent-import-quick",
        "Importing the adapter takes a fraction of a second.",
        "Every command that names the agent waits for it. Import what is heavy in the function that needs it.",
        find_slowness,
    ),
)
