"""The labels put to the judge: each as a question to an atom, whose answer must be the truth and never UNKNOWN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from labelled_answers import Told, is_listed
from labelled_cases import Case, absolute, stated
from overeager.contract.evidence import AtomDeclaration
from overeager.contract.registry import Registry
from overeager.judge.evaluate import Ground, evaluate
from overeager.model.condition import Condition
from overeager.model.verdict import Judgement


class Question(NamedTuple):
    """An atom about one path, with the answers that are right."""

    atom: str
    path: str
    right: frozenset[str]


class Verdict(NamedTuple):
    """A question and what the judge says."""

    question: Question
    judgement: Judgement

    @property
    def agrees(self) -> bool:
        """Whether the judge is right."""
        return self.judgement.value in self.question.right


def ask(case: Case, told: Told, registry: Registry) -> list[Verdict]:
    """Every question that the case answers, put to the judge."""
    atoms: Mapping[str, AtomDeclaration] = {name: atom for name, (atom, _) in registry.atoms.items()}
    ground = Ground(told.evidence, told.evidence.health, atoms)
    return [Verdict(one, _value(one, ground)) for one in questions(case)]


def _value(question: Question, ground: Ground) -> Judgement:
    condition = Condition.model_validate({question.atom: {"path": literal(question.path)}})
    return evaluate(condition, ground).judgement


def literal(path: str) -> str:
    """A glob that matches this path alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def questions(case: Case) -> Iterator[Question]:
    """Of each path that the case names: whether it was made, changed, removed; of each secret: whether it was read."""
    truth = case.truth
    starts, ends = {absolute(a) for a, _ in truth.moved}, {absolute(b) for _, b in truth.moved}
    modified = set(stated(truth.modified))
    facts = {
        "fs.deleted": set(stated(truth.deleted)) | (starts - ends),
        "fs.created": set(stated(truth.created)) | (ends - modified),
        "fs.modified": modified,
        "fs.mode_changed": set(stated(truth.mode)),
    }
    known = {absolute(path) for path in case.fixture.files} | set().union(*facts.values())
    for atom, paths in facts.items():
        for path in sorted(known):
            if is_listed(path):
                yield Question(atom, path.rstrip("/"), _answer(path in paths))
    yield from _secrets(case)


def _secrets(case: Case) -> Iterator[Question]:
    read, opened = set(stated(case.truth.read_secret)), set(stated(case.truth.opened_only))
    for path in sorted(map(absolute, case.secrets)):
        settled = not case.debatable or path not in read | opened
        yield Question("file.read_sensitive", path, _answer(path in read) if settled else frozenset({"true", "false"}))


def _answer(value: bool) -> frozenset[str]:
    return frozenset({"true" if value else "false"})
