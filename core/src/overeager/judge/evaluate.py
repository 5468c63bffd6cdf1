"""Conditions over evidence: atoms give witnesses, channels decide between FALSE and UNKNOWN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, Protocol

from overeager.contract.evidence import AtomDeclaration, Evidence, Witness
from overeager.errors import OvereagerError
from overeager.judge import kleene
from overeager.judge.profile import FULL, Profile
from overeager.model.action import Pointer
from overeager.model.bundle import ChannelHealth
from overeager.model.condition import Condition
from overeager.model.verdict import Judgement
from overeager.model.vocabulary import Channel

ViewMode = Literal["executed", "attempted"]


class Narrowable(Protocol):
    """Evidence of a whole bundle, from which each atom gets its own view."""

    def narrowed(self, channels: tuple[Channel, ...], mode: ViewMode) -> Evidence:
        """Only what `channels` saw; in mode attempted, also what did not come through."""


class Ground(NamedTuple):
    """What evaluation needs besides the condition."""

    evidence: Narrowable
    health: Mapping[Channel, ChannelHealth]
    atoms: Mapping[str, AtomDeclaration]
    profile: Profile = FULL


class Outcome(NamedTuple):
    """What a node of a condition comes to, and what the nodes below it do."""

    condition: Condition
    judgement: Judgement
    blocked_by: tuple[str, ...] = ()
    """The gates that stopped the attempts it rests on."""
    parts: tuple[Outcome, ...] = ()
    ruled_out_by: tuple[Channel, ...] = ()
    """Of an atom that is FALSE: the whole channels in which nothing shows it."""


def evaluate(condition: Condition, ground: Ground, mode: ViewMode = "executed") -> Outcome:
    """The value of `condition`; raises JDG001 for an unknown atom, JDG002 when a predicate breaks.

    In mode attempted what stands under not_of is still read as executed: an attempt needs no attempt at absence.
    """
    if condition.operator == "atom":
        return _evaluate_atom(condition, ground, mode)
    if condition.operator == "not_of":
        part = evaluate(condition.children[0], ground)
        return Outcome(condition, _deny(part), parts=(part,))
    parts = tuple(evaluate(child, ground, mode) for child in condition.children)
    combine = kleene.all_of if condition.operator == "all_of" else kleene.any_of
    gates = sorted({gate for part in parts for gate in part.blocked_by})
    return Outcome(condition, combine([part.judgement for part in parts]), tuple(gates), parts)


def _evaluate_atom(condition: Condition, ground: Ground, mode: ViewMode) -> Outcome:
    atom = ground.atoms.get(str(condition.atom))
    if atom is None:
        raise OvereagerError("JDG001", f"no installed plugin offers the atom '{condition.atom}'")
    declared = atom.shown_by if mode == "executed" else atom.attempted_by
    channels = ground.profile.narrow(declared)
    if not channels:
        return Outcome(condition, Judgement(value="unknown", reason=_why_mute(atom, declared, ground.profile)))
    witnesses = _ask(atom, ground.evidence.narrowed(channels, mode), condition)
    gates = tuple(sorted({w.blocked_by for w in witnesses if w.blocked_by}))
    ruling = ground.profile.narrow(atom.ruled_out_by if mode == "executed" else atom.attempted_by)
    judgement = _weigh(atom, witnesses, ruling, ground.health)
    return Outcome(condition, judgement, gates, ruled_out_by=ruling if judgement.value == "false" else ())


def _deny(part: Outcome) -> Judgement:
    """What is TRUE because something is absent points at no line; it says what rules that out."""
    denied = kleene.not_of(part.judgement)
    if denied.value != "true":
        return denied
    absent = dict.fromkeys(f"no {leaf.condition.atom} in {', '.join(leaf.ruled_out_by)}" for leaf in _absent(part))
    return denied.model_copy(update={"reason": "; ".join(filter(None, (denied.reason, *absent)))})


def _absent(outcome: Outcome) -> Iterator[Outcome]:
    if outcome.ruled_out_by:
        yield outcome
    for part in outcome.parts:
        yield from _absent(part)


def _why_mute(atom: AtomDeclaration, declared: tuple[Channel, ...], profile: Profile) -> str:
    if not declared:
        return f"{atom.name} has no form for attempts"
    return f"{atom.name}: shown by {', '.join(declared)} alone, which the profile '{profile.id}' leaves out"


def _ask(atom: AtomDeclaration, evidence: Evidence, condition: Condition) -> list[Witness]:
    try:
        found = atom.predicate(evidence, **condition.parameters)
        if fault := _misfit(found):
            raise TypeError(fault)
    except (Exception, SystemExit) as error:  # an exit here would leave the judge without a verdict and with status 0
        raise OvereagerError(
            "JDG002",
            f"atom '{atom.name}' broke: {type(error).__name__}: {error}",
            where=getattr(atom.predicate, "__module__", None),
            cure="an atom returns witnesses and never raises; report this to the distribution that offers it",
        ) from error
    return found


def _misfit(found: object) -> str:
    """What is wrong with what a predicate returned; empty = nothing."""
    if not isinstance(found, list | tuple):
        return f"it returned {type(found).__name__}, no list of witnesses"
    for witness in found:
        if not isinstance(witness, Witness):
            return f"it returned {type(witness).__name__}, no witness"
        if not all(isinstance(pointer, Pointer) and pointer.line >= 0 for pointer in witness.pointers):
            return "a witness of it points at no line of a member"
        if witness.certain and not witness.unseen and not witness.pointers:
            return "a witness of it is certain and points at nothing"
    return ""


def _weigh(
    atom: AtomDeclaration,
    witnesses: list[Witness],
    ruling: tuple[Channel, ...],
    health: Mapping[Channel, ChannelHealth],
) -> Judgement:
    certain = [witness for witness in witnesses if witness.certain and not witness.unseen]
    if certain:
        pointers = dict.fromkeys(pointer for witness in certain for pointer in witness.pointers)
        return Judgement(value="true", evidence=tuple(pointers)[: kleene.POINTERS])
    if witnesses:
        first = witnesses[0].pointers[0] if witnesses[0].pointers else None
        where = f" ({first.member}:{first.line})" if first else ""
        why = witnesses[0].note if witnesses[0].unseen else ""
        return Judgement(value="unknown", reason=f"{atom.name}: {why or 'begun, outcome not seen'}{where}")
    blind = [channel for channel in ruling if _state(health, channel) != "present"]
    if blind:
        named = ", ".join(f"{channel} {_state(health, channel)}" for channel in blind)
        return Judgement(value="unknown", reason=f"{atom.name}: {named}")
    return Judgement(value="false")


def _state(health: Mapping[Channel, ChannelHealth], channel: Channel) -> str:
    return health[channel].state if channel in health else "absent"
