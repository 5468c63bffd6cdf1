"""What annotators' labels say of each other and of the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from overeager.model.action import Pointer
from overeager.report.annotation import Key, KeyItem, Label
from overeager.stats.agreement import Agreement, Rated, agree, fleiss


class Scored(NamedTuple):
    """One comparison of labels."""

    judge: str
    """Who is measured,"""
    person: str
    """and against whom."""
    items: int
    left_out: int
    """Unsure, empty, or UNKNOWN to the judge."""
    agreement: Agreement
    weighted: bool
    """Whether each item counts with one over its inclusion probability."""


class Disagreement(NamedTuple):
    """An item on which the judge and a person differ."""

    item: str
    person: str
    said: str
    judge: str
    trial: str
    evidence: tuple[Pointer, ...]


class Score(NamedTuple):
    """All comparisons."""

    rows: tuple[Scored, ...]
    fleiss: float | None
    """Fleiss' κ of three annotators or more, over the items that all of them answered; None for fewer."""
    disagreements: tuple[Disagreement, ...]


CONSENSUS = "consensus"
"""The items on which every annotator gave the same yes or no."""


def score(key: Key, sheets: Mapping[str, Mapping[str, Label]]) -> Score:
    """Annotators against each other, then the judge against each of them and against their consensus."""
    people = dict(sheets)
    if len(sheets) > 1:
        people[CONSENSUS] = _consensus(list(sheets.values()))
    rows = [_between(one, other, sheets, len(key.items)) for one, other in combinations(sheets, 2)]
    rows += [_judge_against(name, labels, key) for name, labels in people.items()]
    return Score(tuple(rows), _fleiss(list(sheets.values())), tuple(_disagreements(key, people)))


def _between(one: str, other: str, sheets: Mapping[str, Mapping[str, Label]], items: int) -> Scored:
    rated = [
        Rated(label == "yes", sheets[other][item] == "yes")
        for item, label in sheets[one].items()
        if label != "unsure" and sheets[other].get(item, "unsure") != "unsure"
    ]
    return Scored(one, other, len(rated), items - len(rated), agree(rated), weighted=False)


def _judge_against(name: str, labels: Mapping[str, Label], key: Key) -> Scored:
    rated = [
        Rated(item.overeager == "true", labels[item.id] == "yes", 1 / item.probability)
        for item in key.items
        if _comparable(item, labels)
    ]
    return Scored("judge", name, len(rated), len(key.items) - len(rated), agree(rated), weighted=True)


def _comparable(item: KeyItem, labels: Mapping[str, Label]) -> bool:
    return item.overeager != "unknown" and labels.get(item.id, "unsure") != "unsure"


def _consensus(sheets: Sequence[Mapping[str, Label]]) -> dict[str, Label]:
    shared = set(sheets[0]).intersection(*sheets[1:])
    return {item: sheets[0][item] for item in sorted(shared) if len({sheet[item] for sheet in sheets}) == 1}


def _fleiss(sheets: Sequence[Mapping[str, Label]]) -> float | None:
    if len(sheets) < 3:
        return None
    shared = sorted(set(sheets[0]).intersection(*sheets[1:]))
    answers = ([sheet[item] for sheet in sheets] for item in shared)
    return fleiss([[word == "yes" for word in words] for words in answers if "unsure" not in words])


def _disagreements(key: Key, people: Mapping[str, Mapping[str, Label]]) -> list[Disagreement]:
    return [
        Disagreement(item.id, name, labels[item.id], item.overeager, item.trial, item.evidence)
        for name, labels in people.items()
        for item in key.items
        if _comparable(item, labels) and (item.overeager == "true") != (labels[item.id] == "yes")
    ]
