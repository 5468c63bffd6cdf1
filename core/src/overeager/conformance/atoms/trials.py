"""Atoms tried on the bundles of the author's plays, and on what is left when something is taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from overeager.actions.evidence import BundleEvidence
from overeager.conformance.atoms.answers import answer, answer_all, answer_elsewhere, read_evidence
from overeager.conformance.atoms.cases import FILE, AtomCases, Claim, claims, read_cases
from overeager.conformance.atoms.less_evidence import lessen, without
from overeager.conformance.atoms.subject import Subject, asked_of, sealed_of
from overeager.conformance.check import Check
from overeager.conformance.watching import watch
from overeager.contract.evidence import AtomDeclaration
from overeager.errors import OvereagerError, near_miss

_ROUNDS = 12
"""A TRUE points at 16 lines at most; several channels may each have as many."""


def _find_missing_cases(subject: Subject) -> Iterator[str]:
    try:
        cases = read_cases(subject.package)
    except OvereagerError as error:
        yield str(error)
        return
    if cases is None:
        yield f"there is no {FILE} in {subject.package}: write plays, and for each atom `holds` and `ruled_out`"
        return
    yield from _compare_names(subject, cases)
    for name, seen in subject.plays().items():
        if not seen.verdict.valid:
            yield f"the play '{name}' ended as {seen.verdict.ending.name}: {seen.verdict.ending.detail}"
        if blind := [channel for channel, health in seen.evidence.health.items() if health.state != "present"]:
            yield f"the play '{name}' left {', '.join(blind)} less than whole"
    for claim in asked_of(subject):
        judged = answer(claim.condition, subject.plays()[claim.play].evidence, subject.registry)
        if judged.value != claim.value:
            yield f"{claim} is {judged.value} where the case says {claim.value}; {judged.reason}".rstrip("; ")


def _compare_names(subject: Subject, cases: AtomCases) -> Iterator[str]:
    """Every atom has both sides, and every name is one of the plugin's atoms or plays."""
    said = list(claims(cases))
    for name in subject.atoms:
        sides = {claim.value for claim in said if claim.atom == name}
        for value, key in (("true", "holds"), ("false", "ruled_out")):
            if value not in sides:
                yield f"{name} has no case in which it is {value.upper()} (`{key}` in {FILE})"
    for name in sorted({claim.atom for claim in said} - subject.atoms.keys()):
        yield f"{FILE} names '{name}', which this plugin does not offer; {near_miss(name, subject.atoms) or ''}".rstrip(
            "; "
        )
    for one in cases.plays:
        if one.name not in subject.plays():
            yield f"the play '{one.name}' came to no bundle"


def _find_touches(subject: Subject) -> Iterator[str]:
    plays = subject.plays()
    views = {name: one.evidence for name, one in plays.items()}
    for name, atom in subject.atoms.items():
        asked = [claim for claim in asked_of(subject) if claim.atom == name]
        for touched in watch(lambda atom=atom, asked=asked: _ask_all(atom, asked, views)):  # type: ignore[misc]
            yield f"{name} touches {touched}"


def _ask_all(atom: AtomDeclaration, asked: list[Claim], views: Mapping[str, BundleEvidence]) -> None:
    for claim in asked:
        atom.predicate(views[claim.play].narrowed(atom.shown_by, "executed"), **claim.parameters)
        atom.predicate(views[claim.play].narrowed(atom.attempted_by or atom.shown_by, "attempted"), **claim.parameters)


def _find_other_answers(subject: Subject) -> Iterator[str]:
    sealed, asked = sealed_of(subject), asked_of(subject)
    first = answer_all(sealed, asked, subject.registry)
    turned = {name: one._replace(members=dict(reversed(tuple(one.members.items())))) for name, one in sealed.items()}
    tries: tuple[tuple[str, Callable[[], list[str]]], ...] = (
        ("asked again", lambda: answer_all(sealed, asked, subject.registry)),
        ("asked in another order", lambda: answer_all(sealed, asked[::-1], subject.registry)[::-1]),
        ("with the bundle's members in another order", lambda: answer_all(turned, asked, subject.registry)),
        ("in another process, hash seed 1", lambda: answer_elsewhere(sealed, asked, 1)),
        ("in another process, hash seed 2", lambda: answer_elsewhere(sealed, asked, 2)),
    )
    for how, ask in tries:
        for claim, before, after in zip(asked, first, ask(), strict=True):
            if before != after:
                yield f"{claim}, {how}, says {after} where it said {before}"


def _find_blind_certainty(subject: Subject) -> Iterator[str]:
    for name, sealed in sealed_of(subject).items():
        blind = read_evidence(sealed._replace(members={}), subject.registry)
        for claim in (one for one in asked_of(subject) if one.play == name):
            if (value := answer(claim.condition, blind, subject.registry).value) != "unknown":
                yield f"{claim} is {value} of a bundle that holds nothing"


def _find_reversals(subject: Subject) -> Iterator[str]:
    asked = asked_of(subject)
    for name, sealed in sealed_of(subject).items():
        here = [claim for claim in asked if claim.play == name]
        whole = read_evidence(sealed, subject.registry)
        before = [answer(claim.condition, whole, subject.registry).value for claim in here]
        for how, members in lessen(sealed.members):
            less = read_evidence(sealed._replace(members=members), subject.registry)
            for claim, value in zip(here, before, strict=True):
                after = answer(claim.condition, less, subject.registry).value
                if after not in ("unknown", value):
                    yield f"{claim} was {value} and is {after} {how}"


def _find_loose_pointers(subject: Subject) -> Iterator[str]:
    sealed = sealed_of(subject)
    for claim in (one for one in asked_of(subject) if one.value == "true"):
        left = sealed[claim.play]
        for _ in range(_ROUNDS):
            judged = answer(claim.condition, read_evidence(left, subject.registry), subject.registry)
            if judged.value != "true":
                break
            left = left._replace(members=without(left.members, judged.evidence))
        else:
            yield f"{claim} is still TRUE when every line that it pointed at is gone"


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "atom-cases",
        "Every atom has cases in which it is TRUE and FALSE, and it is so in them.",
        f"An atom that was never seen TRUE may be one that cannot be. Cases lie in `{FILE}` beside the atoms: a "
        "fixture, steps, and for each atom parameters under `holds` and `ruled_out`.",
        _find_missing_cases,
    ),
    Check(
        "atom-pure",
        "A predicate touches no file, socket, process, clock or chance.",
        "A verdict must come out the same on any machine at any time. What an atom knows comes from its evidence.",
        _find_touches,
    ),
    Check(
        "atom-repeatable",
        "The same bundle gives the same answer: again, in another order, in another process, under another hash seed.",
        "Verdicts are compared byte by byte. Sort what comes from a set before it becomes a witness.",
        _find_other_answers,
    ),
    Check(
        "atom-blind",
        "With every channel absent an atom is UNKNOWN.",
        "An atom that holds of an empty bundle counts a broken trial as a result.",
        _find_blind_certainty,
    ),
    Check(
        "atom-monotone",
        "Less evidence only ever moves a value towards UNKNOWN.",
        "A collector that died must never look like good behaviour, or like bad. Predicates are existential: never "
        "return a witness because something is missing.",
        _find_reversals,
    ),
    Check(
        "atom-pointers",
        "A TRUE ends when the lines that it points at are taken away.",
        "Reviewers read the lines behind a number; a TRUE that rests on others cannot be reviewed.",
        _find_loose_pointers,
    ),
)
