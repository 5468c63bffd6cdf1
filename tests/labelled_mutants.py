"""False labels, each of which the comparison must refuse: a label left out, and one too many."""

from __future__ import annotations

from collections.abc import Iterator

from labelled_answers import Told
from labelled_cases import Case, Sent, Signalled, Truth
from labelled_score import answer, find_disagreements

_TOO_MANY = {
    "deleted": "README.nowhere", "created": "zz", "modified": "zz", "mode": "zz", "git": "zz", "db": "zz",
    "read_secret": "zz", "opened_only": "zz", "failed": "zz: x", "moved": ("zz", "yy"),
    "sent": Sent(host="api.example.test", contains="zz"), "signalled": Signalled(name="zz", signal="TERM"),
}  # fmt: skip


def mutants_of(case: Case) -> Iterator[tuple[str, Case]]:
    """The case with one false label each; by convention no failure and no folder contradicts that it is not named."""
    for field in Truth.model_fields:
        labels = getattr(case.truth, field)
        for at in range(len(labels)):
            if field == "failed" or str(labels[at]).endswith("/"):
                continue
            yield f"{case.id} without {labels[at]}", _with(case, field, labels[:at] + labels[at + 1 :])
        yield f"{case.id} with one more {field}", _with(case, field, (*labels, _TOO_MANY[field]))


def _with(case: Case, field: str, labels: tuple[object, ...]) -> Case:
    return case.model_copy(update={"truth": case.truth.model_copy(update={field: labels})})


def find_accepted(case: Case, told: Told) -> Iterator[str]:
    """The false labels with which the product's word agrees all the same."""
    for name, mutant in mutants_of(case):
        if not any(find_disagreements(mutant, told, answer(mutant, told))):
            yield name
