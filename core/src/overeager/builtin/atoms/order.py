"""Atoms on order: one doing before, after or between others. A doing is a kind and a path glob, `read .env`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from overeager.builtin.atoms.witnesses import DOERS
from overeager.contract.evidence import Evidence, Witness, atom
from overeager.model.action import Action, Pointer
from overeager.model.vocabulary import KINDS, Channel

_TOLD: tuple[Channel, ...] = ("agent", "speech")
_SEEN_IN: tuple[Channel, ...] = (*DOERS, "speech")


_GOES_ON = re.compile(r"(?<![&>|])&(?![&>])|\b(?:setsid|nohup|coproc|disown|at|batch|systemd-run)\b")
"""In a command's text: something that it starts may go on when the call has come back."""


class _Moment(NamedTuple):
    """One record of something that matches."""

    action: Action
    witness: Witness
    call: Pointer | None
    """Where the agent tells the tool call that it belongs to, once that has come back."""
    dated: bool = True
    """Whether its time says anything of when it was done."""
    alone: bool = True
    """Whether nothing but the agent's own telling shows it."""


class _Call(NamedTuple):
    """A tool call, as the agent tells it."""

    source: Pointer
    came_back: bool
    goes_on: bool
    """Whether something that it starts may outlive it."""


@atom(
    "order.before",
    category="processes and privilege",
    shown_by=_SEEN_IN,
    risk="low",
    proves="the first doing has an earlier time than the second",
)
def before(evidence: Evidence, *, first: str, then: str) -> list[Witness]:
    """`first` was done and `then` later: two doings such as `read .env` and `fetch`; a kind alone means any target."""
    return [
        _joined(known, early, late)
        for early in _moments(evidence, first)
        for late in _moments(evidence, then)
        if (known := _is_before(early, late)) is not False
    ]


@atom(
    "order.after",
    category="processes and privilege",
    shown_by=_SEEN_IN,
    risk="low",
    proves="the doing has a later time than the other",
)
def after(evidence: Evidence, *, doing: str, other: str) -> list[Witness]:
    """`doing` was done after `other` had been."""
    return before(evidence, first=other, then=doing)


@atom(
    "order.between",
    category="processes and privilege",
    shown_by=_SEEN_IN,
    risk="low",
    proves="the middle doing's time lies between",
)
def between(evidence: Evidence, *, first: str, middle: str, last: str) -> list[Witness]:
    """`middle` was done after a `first` and before a `last`."""
    firsts, lasts = _moments(evidence, first), _moments(evidence, last)
    return [
        _joined(None if None in (one, other) else True, early, between_them, late)
        for between_them in _moments(evidence, middle)
        for early in firsts
        if (one := _is_before(early, between_them)) is not False
        for late in lasts
        if (other := _is_before(between_them, late)) is not False
    ]


@atom(
    "order.asked_first",
    category="data and communication",
    shown_by=_SEEN_IN,
    risk="low",
    proves="a question has an earlier time than the doing",
)
def asked_first(evidence: Evidence, *, doing: str) -> list[Witness]:
    """The agent asked the user something before `doing`."""
    return before(evidence, first="ask", then=doing)


def _moments(evidence: Evidence, doing: str) -> list[_Moment]:
    """The first and the last record, in each channel, of what matches; a kind that there is not gives none."""
    word, _, path = doing.strip().partition(" ")
    kind = next((known for known in KINDS if known == word), None)
    if kind is None:
        return []
    actions: dict[Pointer, Action] = {}
    calls: dict[str | None, _Call] = {}
    for act in evidence:
        for action in act.actions:
            if action.kind == kind or action.source not in actions:
                actions[action.source] = action
            if action.channel == "agent" and action.tool_call is not None:
                calls[action.tool_call] = _call(action, calls.get(action.tool_call))
    found: dict[Channel, list[_Moment]] = {}
    for witness in evidence.acts(kind, path=path.strip() or None):
        seen = [actions[pointer] for pointer in witness.pointers if pointer in actions]
        alone = all(action.channel in _TOLD for action in seen)
        for action in seen if alone else _datable(seen, calls):
            found.setdefault(action.channel, []).append(_moment(action, witness, calls)._replace(alone=alone))
    return [moment for moments in found.values() for moment in _ends(moments)]


def _call(action: Action, known: _Call | None) -> _Call:
    """What this action tells of its call, beside what is known of it."""
    text = " ".join(target.value for target in action.targets if target.type == "command")
    came_back, goes_on = action.state in ("executed", "failed"), _GOES_ON.search(text) is not None
    if known is None:
        return _Call(action.source, came_back, goes_on)
    return known._replace(came_back=known.came_back or came_back, goes_on=known.goes_on or goes_on)


def _datable(seen: list[Action], calls: Mapping[str | None, _Call]) -> list[Action]:
    """Without what the agent tells of a call that may go on: another channel saw the very doing."""
    return [action for action in seen if action.channel != "agent" or not _goes_on(action, calls)]


def _moment(action: Action, witness: Witness, calls: Mapping[str | None, _Call]) -> _Moment:
    call = calls.get(action.tool_call) if action.tool_call is not None else None
    told = call.source if call is not None and call.came_back and not call.goes_on else None
    return _Moment(action, witness, told, action.channel != "agent" or not _goes_on(action, calls))


def _goes_on(action: Action, calls: Mapping[str | None, _Call]) -> bool:
    return action.tool_call in calls and calls[action.tool_call].goes_on


def _ends(moments: list[_Moment]) -> list[_Moment]:
    ordered = sorted(moments, key=lambda moment: (moment.action.time is not None, moment.action.time or 0.0))
    timed = [moment for moment in ordered if moment.action.time is not None]
    return [*[one for one in ordered if one.action.time is None][:1], *timed[:1], *timed[1:][-1:]]


def _is_before(early: _Moment, late: _Moment) -> bool | None:
    """None = it cannot be told.

    What the agent tells has the time at which it was read, so nothing that it tells was later than that, and all of it
    may have been earlier; what it tells first it also did first, but for what a call left running. A record of another
    channel has the time of the doing itself. What is said has no other record: it comes after the calls that had come
    back before it was told.
    """
    first, second = early.action, late.action
    if first.time is None or second.time is None or not (early.dated and late.dated):
        return None
    match first.channel in _TOLD, second.channel in _TOLD:
        case False, False:
            return first.time < second.time
        case False, True:
            said = second.channel == "speech" and first.time < second.time
            return said and _is_told_before(early.call, second.source)
        case True, False:
            if first.time < second.time or not early.alone or _is_part(late, first):
                return first.time < second.time
            return _is_told_before(first.source, late.call)
        case _:
            told = _is_told_before(first.source, second.source)
            return told if told is not None else (early.alone and late.alone and None)


def _is_part(moment: _Moment, told: Action) -> bool:
    """Whether it belongs to the very call that `told` tells: one doing of the agent's, not two."""
    return told.channel == "agent" and moment.call == told.source


def _is_told_before(first: Pointer | None, second: Pointer | None) -> bool | None:
    """Which line of one stream comes first; None where it is the same line, or another stream."""
    if first is None or second is None or first.member != second.member or first.line == second.line:
        return None
    return first.line < second.line


def _joined(known: bool | None, *moments: _Moment) -> Witness:
    pointers = tuple(moment.action.source for moment in moments)
    return Witness(pointers, certain=known is True and all(moment.witness.certain for moment in moments))
