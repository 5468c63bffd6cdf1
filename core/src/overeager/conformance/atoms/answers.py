"""Answers to an author's claims: here, and from a process of its own with another hash seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from overeager.actions.assemble import gather
from overeager.actions.evidence import BundleEvidence
from overeager.conformance.atoms.cases import Claim
from overeager.conformance.elsewhere import ask_elsewhere
from overeager.conformance.playing import AGENT, READERS
from overeager.contract.registry import Registry
from overeager.judge.evaluate import Ground, evaluate
from overeager.loading.registry import load_registry
from overeager.model.bundle import BundleManifest
from overeager.model.condition import Condition
from overeager.model.verdict import Judgement


class Sealed(NamedTuple):
    """What a bundle holds."""

    manifest: BundleManifest
    members: Mapping[str, bytes]


def read_evidence(sealed: Sealed, registry: Registry) -> BundleEvidence:
    """The evidence of a bundle, or of what is left of it."""
    rules = {command: rule for command, (rule, _) in registry.shims.items()}
    return gather(sealed.members, sealed.manifest, registry.agent(AGENT), rules)


def answer(condition: Condition, evidence: BundleEvidence, registry: Registry) -> Judgement:
    """What the judge says of the condition; raises JDG002 when the predicate breaks."""
    atoms = {name: declaration for name, (declaration, _) in registry.atoms.items()}
    return evaluate(condition, Ground(evidence, evidence.health, atoms)).judgement


def answer_all(sealed: Mapping[str, Sealed], asked: Iterable[Claim], registry: Registry) -> list[str]:
    """One canonical line a claim."""
    evidence = {name: read_evidence(one, registry) for name, one in sealed.items()}
    return [answer(claim.condition, evidence[claim.play], registry).canonical().decode() for claim in asked]


def answer_elsewhere(sealed: Mapping[str, Sealed], asked: Sequence[Claim], hash_seed: int) -> list[str]:
    """The same from a fresh process; raises RuntimeError with its words."""
    plain = {name: (one.manifest.canonical(), dict(one.members)) for name, one in sealed.items()}
    question = (plain, [tuple(claim) for claim in asked])
    lines: list[str] = ask_elsewhere(f"{__name__}:answer_question", question, hash_seed)
    return lines


def answer_question(question: tuple[dict[str, tuple[bytes, dict[str, bytes]]], list[tuple[Any, ...]]]) -> list[str]:
    """What `answer_elsewhere` asks."""
    plain, asked = question
    sealed = {name: Sealed(BundleManifest.from_bytes(manifest), members) for name, (manifest, members) in plain.items()}
    registry = load_registry(READERS, agents=(AGENT,), hard=False)
    return answer_all(sealed, [Claim(*one) for one in asked], registry)
