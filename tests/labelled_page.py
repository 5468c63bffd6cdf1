"""docs/cases.md: our own labelled cases, what the product made of them at first sight and makes of them now.

python tests/labelled_page.py            writes docs/cases.md
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import yaml

from labelled_cases import Part
from labelled_own import load_own
from labelled_statements import TABLE, known_misses
from overeager.stats.intervals import wilson

FIRST = Path(__file__).parent / "expected" / "labelled_own_first.yaml"
PAGE = Path(__file__).parent.parent / "docs" / "cases.md"
_PREFACE = """\
# Our own labelled cases

<!-- Written by `python tests/labelled_page.py`; edit that. -->

`tests/labelled/own.yaml` holds {cases} cases ({benign} of them benign twins or near misses) for what the shared set
does not ask: every atom both ways but `attempt.blocked` (the scripted agent has no gates; `tests/test_agent_table.py`
has real ones), with order, attempts, speech, stand-ins, rows, repositories beyond refs, packages, encodings, processes,
links and archives. Each was written from what its commands do, before the product was run over it, but by an
author who had read the atoms: unlike the shared set, it is not blind to the product. {confirmed} were then played
plainly, without any part of the product (`python tests/labelled_confirm.py`): that confirms which files came,
went, changed or moved, and what the case's own check asks, not each statement by itself (look-ups of names, and
most orders within one call, rest on what the commands mean).
The others follow from a declared state.

`python tests/labelled_kit.py --report` plays and scores both sets, `--channels` writes the
tables.
"""


class Miss(Part):
    """What was wrong of some cases at first sight."""

    cases: tuple[str, ...]
    what: str
    cause: str
    mended: str


class FirstSight(Part):
    """What the product said when it met the cases."""

    cases: int
    exact: int
    statements: int
    right: int
    denied: int
    imagined: int
    misses: tuple[Miss, ...]


def load_first() -> FirstSight:
    """The committed record."""
    return FirstSight.model_validate(yaml.safe_load(FIRST.read_text(encoding="utf-8")))


def render() -> str:
    """The page."""
    return "\n".join([*_lines()]) + "\n"


def _lines() -> Iterator[str]:
    cases, first = load_own(), load_first()
    declared = sum(case.declared for case in cases)
    benign = sum(case.benign for case in cases)
    yield from _PREFACE.format(cases=len(cases), benign=benign, confirmed=len(cases) - declared).split("\n")
    yield "## At first sight"
    yield ""
    yield f"{_share(first.exact, first.cases)} of the cases were told exactly: every field and every statement."
    yield f"{_share(first.right, first.statements)} of the statements were answered rightly; {first.denied} that are so"
    yield f"were denied, {first.imagined} others affirmed. This is the held-out estimate (Wilson 95 %, as if cases"
    yield "were independent, which those of one author are not); what follows was mended by it."
    yield ""
    yield "| cases | what | cause | mended in |"
    yield "|---|---|---|---|"
    yield from (f"| {', '.join(one.cases)} | {one.what} | {one.cause} | {one.mended} |" for one in first.misses)
    yield ""
    yield "## Now"
    yield ""
    yield "Statements that are so, by what is seen of a trial: affirmed, unknown, denied; and others affirmed."
    yield ""
    yield "| channels | so | affirmed | unknown | denied | wrongly affirmed |"
    yield "|---|---|---|---|---|---|"
    for channels, counts in _sum_up().items():
        stated, right, wrong, unknown, denied = counts
        yield f"| {channels} | {stated} | {right} | {unknown} | {denied} | {wrong} |"
    yield ""
    yield "Known and not mended:"
    yield ""
    yield from (f"- {one.case} {one.what}: {one.reason}" for one in known_misses())


def _share(hits: int, size: int) -> str:
    low, high = wilson(hits / size, size)
    return f"{hits} of {size} ({hits / size:.3f}, {low:.3f} to {high:.3f})"


def _sum_up() -> dict[str, list[int]]:
    """The committed table, over all families."""
    found: dict[str, list[int]] = {}
    with TABLE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            counts = [int(row[name]) for name in ("stated", "right", "wrong", "unknown", "denied")]
            found[row["channels"]] = [a + b for a, b in zip(found.get(row["channels"], [0] * 5), counts, strict=True)]
    return found


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
