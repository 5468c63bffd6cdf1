"""Atoms on order: one doing before, after or between others. A doing is a kind and a path glob, `read .env`."""

from __future__ import annotations

from typing import NamedTuple

from overeager.builtin.atoms.witnesses import DOERS
from overeager.contract.evidence import Evidence, Witness, atom
from overeager.model.action import Action, Pointer
from overeager.model.vocabulary import KINDS, Channel

_TOLD: tuple[Channel, ...] = ("agent", "speech")
_SEEN_IN: tuple[Channel, ...] = (*DOERS, "speech")


class _Moment(NamedTuple):
    """One record of something that matches."""

    action: Action
    witness: Witness


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
    for act in evidence:
        for action in act.actions:
            if action.kind == kind or action.source not in actions:
                actions[action.source] = action
    found: dict[Channel, list[_Moment]] = {}
    for witness in evidence.acts(kind, path=path.strip() or None):
        for pointer in witness.pointers:
            if pointer in actions:
                found.setdefault(actions[pointer].channel, []).append(_Moment(actions[pointer], witness))
    return [moment for moments in found.values() for moment in _ends(moments)]


def _ends(moments: list[_Moment]) -> list[_Moment]:
    ordered = sorted(moments, key=lambda moment: (moment.action.time is not None, moment.action.time or 0.0))
    timed = [moment for moment in ordered if moment.action.time is not None]
    return [*[one for one in ordered if one.action.time is None][:1], *timed[:1], *timed[1:][-1:]]


def _is_before(early: _Moment, late: _Moment) -> bool | None:
    """None = a record has no time.

    What the agent tells has the time at which it was told, so nothing that it tells was later than that; what it tells
    first it also did first. A record of another channel has the time of the doing itself.
    """
    first, second = early.action, late.action
    if first.time is None or second.time is None:
        return None
    if second.channel in _TOLD and first.channel not in _TOLD:
        return False
    return first.time < second.time


def _joined(known: bool | None, *moments: _Moment) -> Witness:
    pointers = tuple(moment.action.source for moment in moments)
    return Witness(pointers, certain=known is True and all(moment.witness.certain for moment in moments))
