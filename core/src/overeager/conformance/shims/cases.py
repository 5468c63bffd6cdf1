"""An author's cases: how calls of a command read, and what a stand-in answers and leaves behind."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from overeager.conformance.beside import read_beside
from overeager.contract.shim import Nested, Reading
from overeager.contract.stand_in import Answer, Ask, Call, Respond, State, compare
from overeager.model.action import Target
from overeager.model.record import Record

FILE = "shim_cases.yaml"
CWD = "/home/user/project-x"
_QUESTIONS = 8
"""As often as the desk lets a stand-in ask before it gives up."""


class ReadingCase(Record):
    """One call, and what it stands for."""

    run: str
    """The call as a POSIX shell would write it (`rm -rf 'a b'`); nothing is expanded."""
    cwd: str = CWD
    """Where it runs."""
    reads: tuple[str, ...] = ()
    """A line a reading, in order: `delete build/`, `maybe delete x` where the exit status alone does not prove it,
    `move a -> b`, and for a command inside `runs rm x` or `runs rm …` where more arguments come from elsewhere. Paths
    below `cwd` are relative to it."""


class CallCase(Record):
    """One call of a stand-in."""

    run: str
    """As a `ReadingCase` writes it."""
    prints: str = ""
    """Its whole standard output."""
    complains: str | None = None
    """What its standard error holds somewhere; absent = it is empty."""
    status: int = 0
    known: bool = True
    """False = nobody models such a call."""
    changes: tuple[str, ...] = ()
    """Sorted: `deleted volume/pgdata`."""
    becomes: str = ""
    """The call that it becomes, behind the variables that it is given; what it would print itself is for when that
    cannot be started."""
    stdin: str | None = None
    """Its whole input; a stand-in that asks gets nothing without it."""
    files: dict[str, str] = {}
    """Text by path, for what the stand-in asks about."""


class StandInCase(Record):
    """A state, and calls that follow one another in it."""

    command: str
    state: dict[str, dict[str, dict[str, Any]]] = {}
    """As a fixture writes it."""
    calls: Annotated[tuple[CallCase, ...], Field(min_length=1)]


class ShimCases(Record):
    """`shim_cases.yaml` of a package with shims."""

    schema_version: Literal[1]
    readings: tuple[ReadingCase, ...] = ()
    stand_ins: tuple[StandInCase, ...] = ()


class Said(Record):
    """What came of one call of a stand-in."""

    prints: str
    complains: str
    status: int
    known: bool
    changes: tuple[str, ...]
    becomes: str


def read_cases(package: str) -> ShimCases | None:
    """The cases that lie in the imported `package`, None when there are none; raises what `load_record` raises."""
    return read_beside(ShimCases, package, FILE)


def tell(readings: Sequence[Reading | Nested], cwd: str) -> tuple[str, ...]:
    """The readings as a case writes them."""
    return tuple(_tell_nested(one) if isinstance(one, Nested) else _tell_reading(one, cwd) for one in readings)


def _tell_nested(nested: Nested) -> str:
    inner = nested.text if nested.text is not None else shlex.join(nested.argv)
    place = f" in {nested.cwd}" if nested.cwd else ""
    return f"runs {inner}{' …' if nested.more_arguments else ''}{place}"


def _tell_reading(reading: Reading, cwd: str) -> str:
    between = " -> " if {"from", "to"} & {target.role for target in reading.targets} else " "
    targets = between.join(_tell_target(target, cwd) for target in reading.targets)
    return f"{'' if reading.sure else 'maybe '}{reading.kind} {targets}".rstrip()


def _tell_target(target: Target, cwd: str) -> str:
    if target.type == "path" and target.value == f"{cwd}/":
        return "./"
    below = target.type == "path" and target.value.startswith(f"{cwd}/")
    return target.value[len(cwd) + 1 :] if below else target.value


def call_of(case: CallCase) -> Call:
    """The call before anything was asked."""
    return Call(tuple(shlex.split(case.run)), CWD)


def respond_to(respond: Respond, call: Call, state: State, case: CallCase) -> Answer:
    """The answer, its questions met from the case; raises RuntimeError when it asks and asks."""
    for _ in range(_QUESTIONS):
        answer = respond(call, state)
        if isinstance(answer, Answer):
            return answer
        if not isinstance(answer, Ask):
            raise TypeError(f"it gives {type(answer).__name__}, neither Answer nor Ask")
        call = _give(answer, call, case)
    raise RuntimeError(f"it asks {_QUESTIONS} times and answers nothing: {answer}")


def _give(asked: Ask, call: Call, case: CallCase) -> Call:
    stdin = (case.stdin or "").encode() if asked.stdin or asked.line else call.stdin
    given = {path: case.files[path].encode() if path in case.files else None for path in asked.files}
    return call._replace(
        stdin=stdin,
        files={**call.files, **given},
        folders={**call.folders, **{path: _names(path, case) for path in asked.folders}},
    )


def _names(folder: str, case: CallCase) -> tuple[str, ...] | None:
    start = folder.rstrip("/") + "/"
    found = sorted({path[len(start) :].partition("/")[0] for path in case.files if path.startswith(start)})
    return tuple(found) or None


def said(answer: Answer, state: State) -> Said:
    """The answer as a case writes it."""
    after = state if answer.state is None else answer.state
    changes = tuple(sorted(f"{one.operation} {one.object}" for one in compare(state, after)))
    return Said(
        prints=answer.stdout,
        complains=answer.stderr,
        status=answer.status,
        known=answer.known,
        changes=changes,
        becomes=shlex.join(answer.execute),
    )
