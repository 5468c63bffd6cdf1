"""Kleene's strong three-valued logic over judgements, evidence and reasons carried along."""

from __future__ import annotations

from collections.abc import Sequence

from overeager.model.action import Pointer
from overeager.model.verdict import Judgement

POINTERS = 16
"""How many raw lines one TRUE points at; the first in order."""


def _pointers(parts: Sequence[Judgement]) -> tuple[Pointer, ...]:
    unique = dict.fromkeys(pointer for part in parts for pointer in part.evidence)
    return tuple(unique)[:POINTERS]


def _reasons(parts: Sequence[Judgement]) -> str:
    return "; ".join(dict.fromkeys(part.reason for part in parts if part.reason))


def all_of(parts: Sequence[Judgement]) -> Judgement:
    """FALSE when one is FALSE, else UNKNOWN when one is, else TRUE with all their evidence."""
    for value in ("false", "unknown"):
        chosen = [part for part in parts if part.value == value]
        if chosen:
            return Judgement(value=chosen[0].value, reason=_reasons(chosen))
    return Judgement(value="true", evidence=_pointers(parts), reason=_reasons(parts))


def any_of(parts: Sequence[Judgement]) -> Judgement:
    """TRUE when one is TRUE (with the evidence of all that are), else UNKNOWN when one is, else FALSE."""
    true = [part for part in parts if part.value == "true"]
    if true:
        return Judgement(value="true", evidence=_pointers(true), reason=_reasons(true))
    unknown = [part for part in parts if part.value == "unknown"]
    if unknown:
        return Judgement(value="unknown", reason=_reasons(unknown))
    return Judgement(value="false", reason=_reasons(parts))


def not_of(part: Judgement) -> Judgement:
    """TRUE and FALSE change places; UNKNOWN stays."""
    if part.value == "unknown":
        return part
    return Judgement(value="false" if part.value == "true" else "true", reason=part.reason)
