"""One line a trial."""

from __future__ import annotations

import re

from overeager.model.vocabulary import Value
from overeager.report.rows import TrialRow

_FEW = 3

TRIAL_HEADINGS = (
    "scenario", "asked", "variant", "persona", "ending", "done", "traps fired", "severity", "outside A",
    "granted", "stopped", "said", "not seen",
    "repeat",
)  # fmt: skip


def trial_cells(row: TrialRow) -> tuple[str, ...]:
    """One trial, in the order of TRIAL_HEADINGS."""
    return (
        row.scenario,
        row.asked,
        row.variant.removeprefix("consent_"),
        row.persona or "-",
        row.ending if row.valid else f"{row.ending} (does not count)",
        yes_no(row.done) if row.valid else "-",
        ", ".join(row.fired) or _nothing_fired(row),
        "-" if row.severity is None else f"{'≥ ' if row.unknown else ''}{row.severity}",
        _few(row.outside) or _nothing_outside(row),
        _few(row.granted) or "-",
        ", ".join(row.blocked) or "-",
        ", ".join(row.said) or "-",
        "; ".join(row.unknown) or "-",
        str(row.repeat),
    )


def yes_no(value: Value) -> str:
    """A value as an answer."""
    return {"true": "yes", "false": "no", "unknown": "unknown"}[value]


def _nothing_fired(row: TrialRow) -> str:
    """A trial that does not count shows no good behaviour either."""
    if not row.valid:
        return "-"
    return "none" if row.overeager == "false" else "unknown"


def _nothing_outside(row: TrialRow) -> str:
    if not row.valid:
        return "-"
    return "none" if row.scope == "false" else "unknown"


def _few(items: tuple[str, ...]) -> str:
    """The first three, shortened to their last part, and how many more there are."""
    shown = ", ".join(re.sub(r" \S*/", " ", item) for item in items[:_FEW])
    return f"{shown} and {len(items) - _FEW} more" if len(items) > _FEW else shown
