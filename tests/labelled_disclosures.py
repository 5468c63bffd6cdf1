"""Owning up, held against labels: how often `actions/disclosure.py` is right, as docs/disclosure.md says.

python tests/labelled_disclosures.py            writes docs/disclosure.md
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import TypeAdapter

from labelled_cases import Part
from overeager.actions.disclosure import discloses
from overeager.model.vocabulary import Kind
from overeager.stats.intervals import wilson

HERE = Path(__file__).parent
ITEMS = HERE / "labelled" / "disclosures.yaml"
EARLIER = HERE / "expected" / "disclosures.csv"
PAGE = HERE.parent / "docs" / "disclosure.md"

_PREFACE = """\
`disclosed` says of each act outside A whether the final message owns up to it: a clause whose verb is the agent's own,
or a passive without another doer, neither denied nor meant, with the act's target, or a folder that holds it whole, as
its object (`actions/disclosure.py`). English only. It is decided by fixed words and stays **exploratory**: it is no
part of any other verdict, and is printed as such with the figure below.

{items} final messages with an act and a label ({told} own up) stand in `tests/labelled/disclosures.yaml`. One author
wrote them, who had read the rules, before the rules were run over them, and mended the rules afterwards: they are no
sample of what agents say, and the estimate is rather too good than too bad. Shares with Wilson's 95 % interval:
"""


class Item(Part):
    """One final message, one act, and whether the message owns up to it."""

    id: str
    tone: str
    kind: Kind
    target: str
    says: str
    disclosed: bool

    @property
    def held_out(self) -> bool:
        """Whether no rule was mended by it."""
        return hashlib.sha256(self.id.encode()).hexdigest()[0] > "7"


class Accuracy(NamedTuple):
    """How the answers to some items compare with their labels."""

    right: int
    """Told, and so."""
    wrong: int
    """Told, and not so."""
    missed: int
    """Not told, but so."""

    @property
    def precision(self) -> str:
        """`26 of 28, 0.93 (0.77 to 0.98)`, Wilson 95 %."""
        return _share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> str:
        """The same of what is so."""
        return _share(self.right, self.right + self.missed)


def _share(hits: int, size: int) -> str:
    if not size:
        return "none"
    low, high = wilson(hits / size, size)
    return f"{hits} of {size}, {hits / size:.2f} ({low:.2f} to {high:.2f})"


def load_items() -> tuple[Item, ...]:
    """Every item, in the file's order."""
    return TypeAdapter(tuple[Item, ...]).validate_python(yaml.safe_load(ITEMS.read_text(encoding="utf-8")))


def is_told(item: Item) -> bool:
    """What the rules say now."""
    return discloses(item.says, item.kind, (item.target,))


def read_earlier(column: str) -> dict[str, bool]:
    """What the rules said of each item when they met it: at `first sight`, or `after mending` on the other half."""
    with EARLIER.open(encoding="utf-8") as file:
        return {row["id"]: row[column] == "true" for row in csv.DictReader(file)}


def compare(items: Sequence[Item], told: Callable[[Item], bool]) -> Accuracy:
    """The answers against the labels."""
    right = sum(item.disclosed and told(item) for item in items)
    wrong = sum(told(item) and not item.disclosed for item in items)
    return Accuracy(right, wrong, sum(item.disclosed for item in items) - right)


def measure_held_out() -> Accuracy:
    """The estimate: the held-out half, by the rules as they were mended on the other half."""
    after = read_earlier("after mending")
    return compare([item for item in load_items() if item.held_out], lambda item: after[item.id])


def render() -> str:
    """The page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    items = load_items()
    first = read_earlier("first sight")
    halves = {True: [one for one in items if one.held_out], False: [one for one in items if not one.held_out]}
    held_out = measure_held_out()
    yield "# Owning up, and how far to trust it"
    yield ""
    yield "<!-- Written by `python tests/labelled_disclosures.py`; edit that. -->"
    yield ""
    yield from _PREFACE.format(items=len(items), told=sum(one.disclosed for one in items)).split("\n")
    yield "| rules | items | precision | recall |"
    yield "|---|---|---|---|"
    for name, part, told in (
        ("as they were, at first sight", items, lambda one: first[one.id]),
        ("as they were, held-out half", halves[True], lambda one: first[one.id]),
    ):
        found = compare(part, told)
        yield f"| {name} | {len(part)} | {found.precision} | {found.recall} |"
    size = len(halves[True])
    yield f"| mended on the other half, **held-out half** | {size} | {held_out.precision} | {held_out.recall} |"
    for name, part in (("now, development half", halves[False]), ("now, held-out half, seen since", halves[True])):
        found = compare(part, is_told)
        yield f"| {name} | {len(part)} | {found.precision} | {found.recall} |"
    yield ""
    yield "The third row is the estimate. The last two are none: the rules were mended by what they missed there."
    yield ""
    yield "What is still told wrongly:"
    yield ""
    yield "| item | tone | label | said |"
    yield "|---|---|---|---|"
    for one in items:
        if is_told(one) != one.disclosed:
            said = one.says.replace("\n", " / ").replace("|", "\\|")
            yield f"| {one.id} | {one.tone} | {'owns up' if one.disclosed else 'does not'} | {said} |"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
