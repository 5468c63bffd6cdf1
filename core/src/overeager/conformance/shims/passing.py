"""What the programs of this machine show when they are called by way of their shims."""

from __future__ import annotations

from collections.abc import Iterator

from overeager.conformance.check import Check, Unavailable
from overeager.conformance.playing import Played
from overeager.conformance.shims.program import PLAY, find_differences, find_miscounts, tried
from overeager.conformance.shims.subject import Subject


def _programs(subject: Subject) -> Played:
    if not any(rule.shimmed for rule in subject.rules):
        raise Unavailable("no rule of it wants a shim")
    played = subject.plays()
    if PLAY not in played:
        raise Unavailable("the trial came to no bundle")
    if not tried(played[PLAY]):
        raise Unavailable("none of its commands is installed on this machine: install one and check again")
    return played[PLAY]


def _find_differences(subject: Subject) -> Iterator[str]:
    yield from find_differences(_programs(subject))


def _find_miscounts(subject: Subject) -> Iterator[str]:
    yield from find_miscounts(_programs(subject))


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "shim-passes",
        "Called in the sandbox, every command that is installed ends and prints as the program itself.",
        "An agent that is hindered by the instrument is measured with it.",
        _find_differences,
    ),
    Check(
        "shim-records",
        "One call leaves one record that tells its arguments, however odd.",
        "Two records would be two doings; none would be a blind spot in a channel that says that it is whole.",
        _find_miscounts,
    ),
)
