"""Stand-ins: what they answer and leave behind in the author's cases, and under odd calls and states."""

from __future__ import annotations

import copy
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from overeager.conformance.check import Check
from overeager.conformance.shims.cases import (
    FILE,
    CallCase,
    StandInCase,
    call_of,
    respond_to,
    said,
)
from overeager.conformance.shims.oddities import odd_calls, short
from overeager.conformance.shims.subject import Subject, need_cases
from overeager.conformance.watching import watch
from overeager.contract.stand_in import Answer, Call, StandIn, State

_ODD_STATES: tuple[Any, ...] = (
    {}, {"x": {}}, {"x": {"y": {}}}, {"x": {"y": {"z": None}}}, {"": {"": {"": ""}}},
    {"x": {"y": {"z": [1, {"a": "b"}]}}},
)  # fmt: skip


def _find_impure_stand_ins(subject: Subject) -> Iterator[str]:
    cases = need_cases(subject)
    for one in subject.stand_ins:
        own = [case for case in cases.stand_ins if case.command == one.command]
        for touched in watch(lambda one=one, own=own: [list(_answer_all(one, case)) for case in own]):  # type: ignore[misc]
            yield f"{one.command} touches {touched}"


def _find_wrong_answers(subject: Subject) -> Iterator[str]:
    cases = need_cases(subject)
    known = {one.command: one for one in subject.stand_ins}
    for command in sorted(known.keys() - {case.command for case in cases.stand_ins}):
        yield f"the stand-in {command} has no case under `stand_ins` in {FILE}"
    for case in cases.stand_ins:
        if case.command not in known:
            yield f"{FILE} has a case for '{case.command}', which stands in for nothing here"
        else:
            yield from _find_wrong_answers_of(known[case.command], case)


def _find_wrong_answers_of(one: StandIn, case: StandInCase) -> Iterator[str]:
    for call, (state, answer) in zip(case.calls, _answer_all(one, case), strict=True):
        seen = said(answer, state)
        complains = seen.complains if call.complains is None else call.complains
        wanted = seen.model_copy(update=call.model_dump(include={"prints", "status", "known", "changes", "becomes"}))
        if seen != wanted:
            yield f"`{call.run}` says {seen} where the case says {wanted}"
        elif complains not in seen.complains or (call.complains is None and seen.complains):
            yield f"`{call.run}` complains {seen.complains!r}, where the case says {call.complains!r}"


def _answer_all(one: StandIn, case: StandInCase) -> Iterator[tuple[State, Answer]]:
    """The state that each call met, and the answer."""
    state: State = one.prepare(case.state)
    for call in case.calls:
        answer = respond_to(one.respond, call_of(call), state, call)
        yield state, answer
        state = state if answer.state is None else answer.state


def _find_raising_stand_ins(subject: Subject) -> Iterator[str]:
    cases = need_cases(subject)
    for one in subject.stand_ins:
        own = [case for case in cases.stand_ins if case.command == one.command]
        calls = [shlex.split(call.run) for case in own for call in case.calls]
        yield from _find_raises(one, calls, [*(case.state for case in own), *_ODD_STATES])


def _find_raises(one: StandIn, known: Sequence[Sequence[str]], states: Sequence[State]) -> Iterator[str]:
    """The first fault of each kind that odd calls in known and in odd states bring about."""
    for written in states:
        try:
            state = one.prepare(copy.deepcopy(written))
            before = copy.deepcopy(state)
            for argv, cwd in odd_calls(one.command, known, 120):
                respond_to(one.respond, Call(argv, cwd), state, CallCase(run=one.command))
                if state != before:
                    yield f"{one.command} changes the state that it is handed, at {short(argv)}"
                    return
        except Exception as error:  # noqa: BLE001 - what a stand-in raises is the fault that is looked for
            yield f"{one.command} raises {type(error).__name__} in the state {str(written)[:60]}: {error}"
            return


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "shim-answers",
        "Every stand-in has cases, and answers and changes its state as they say.",
        "An agent believes what a command prints; what it changed is evidence.",
        _find_wrong_answers,
    ),
    Check(
        "shim-answers-pure",
        "A stand-in touches no file, socket, process, clock or chance.",
        "It answers for a world of its own: what it took from this machine would differ from trial to trial. What it "
        "must know of files it asks for, with `Ask`.",
        _find_impure_stand_ins,
    ),
    Check(
        "shim-answers-odd",
        "A stand-in never raises, never changes the state that it is handed, and does not ask for ever.",
        "An error in the command's voice would be the instrument's; a changed state would be a change nobody made.",
        _find_raising_stand_ins,
    ),
)
