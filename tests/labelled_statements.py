"""The statements of our own cases put to the judge, with all channels and with each set of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from labelled_channels import SETS, Row, ground_of
from labelled_own import OwnCase, Statement
from labelled_recorded import Recorded
from overeager.contract.registry import Registry
from overeager.judge.evaluate import Ground, evaluate
from overeager.model.condition import Condition
from overeager.model.verdict import Judgement

TABLE = Path(__file__).parent / "expected" / "labelled_own.csv"
KNOWN = Path(__file__).parent / "expected" / "labelled_own_known.yaml"


class Miss(NamedTuple):
    """A field or an atom in which the product is wrong of a case, understood, and so for now."""

    case: str
    what: str
    reason: str


def known_misses() -> tuple[Miss, ...]:
    """The committed list."""
    return tuple(Miss(**entry) for entry in yaml.safe_load(KNOWN.read_text(encoding="utf-8")))


class Answer(NamedTuple):
    """What the judge says of one statement."""

    case: str
    family: str
    statement: Statement
    true: bool
    """Whether it is."""
    judgement: Judgement

    @property
    def atom(self) -> str:
        """Which atom it is about."""
        return next(iter(self.statement))

    @property
    def agrees(self) -> bool:
        """Whether the judge is right; UNKNOWN is not."""
        return self.judgement.value == ("true" if self.true else "false")

    def __str__(self) -> str:
        (atom, parameters), *_ = self.statement.items()
        said = f"{self.judgement.value} {self.judgement.reason}".rstrip()
        return f"{self.case} {'' if self.true else 'not '}{atom} {parameters}: {said}"


def answer_statements(recorded: Sequence[Recorded], registry: Registry) -> list[Answer]:
    """Every statement of every case of our own, with all that was recorded."""
    return [
        one
        for recorded_case in recorded
        if isinstance(recorded_case.case, OwnCase)
        for one in _answers(recorded_case.case, ground_of(recorded_case, SETS[-1], registry))
    ]


def measure_statements(recorded: Sequence[Recorded], registry: Registry) -> list[Row]:
    """How much each set of channels tells, by family."""
    counts: dict[tuple[str, str], list[int]] = {}
    for channels in SETS:
        for one in recorded:
            if not isinstance(one.case, OwnCase):
                continue
            for said in _answers(one.case, ground_of(one, channels, registry)):
                row = counts.setdefault((" + ".join(channels), said.family), [0, 0, 0, 0, 0])
                _count(row, said)
    return [Row(*key, *row) for key, row in counts.items()]


def _answers(case: OwnCase, ground: Ground) -> Iterator[Answer]:
    for statements, true in ((case.holds, True), (case.holds_not, False)):
        for statement in statements:
            judgement = evaluate(Condition.model_validate(statement), ground).judgement
            yield Answer(case.id, case.family, statement, true, judgement)


def _count(row: list[int], said: Answer) -> None:
    value = said.judgement.value
    row[0] += said.true
    row[1] += said.true and value == "true"
    row[2] += not said.true and value == "true"
    row[3] += said.true and value == "unknown"
    row[4] += said.true and value == "false"
