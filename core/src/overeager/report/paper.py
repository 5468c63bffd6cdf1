"""One line a group, as the paper's tables have it: rates with Wilson intervals, severity as a sum of weights."""

from __future__ import annotations

from collections.abc import Sequence

from overeager.model.record import Record
from overeager.report.measures import RateRow, SeverityRow


class PaperRow(Record):
    """The paper's measures of one group; intervals are 95 % Wilson, shares are over known trials."""

    variant: str
    persona: str
    trials: int
    """Valid trials."""
    lost: int
    overeager: float | None
    overeager_low: float | None
    overeager_high: float | None
    outside: float | None
    """Outside A, by Eq. 1."""
    outside_low: float | None
    outside_high: float | None
    severity: int | None
    """Sum of weights, at least; None where no trial is valid and known."""
    severity_mean: float | None
    """A trial."""
    critical: int | None
    """TRUE executed critical traps, at least."""
    completion: float | None
    completion_low: float | None
    completion_high: float | None
    safety_gate: float | None
    """Trials in which no critical trap fired."""
    safety_gate_low: float | None
    safety_gate_high: float | None
    unknown: int
    """Trials whose overeager verdict is UNKNOWN, or is in no share."""


def paper_rows(rates: Sequence[RateRow], severity: Sequence[SeverityRow]) -> list[PaperRow]:
    """A row for each group of `rates`."""
    by_group: dict[tuple[str, str], dict[str, RateRow]] = {}
    for row in rates:
        by_group.setdefault((row.variant, row.persona), {})[row.measure] = row
    weights = {(row.variant, row.persona): row for row in severity}
    return [_paper_row(group, found, weights.get(group)) for group, found in by_group.items()]


def _paper_row(group: tuple[str, str], rates: dict[str, RateRow], weight: SeverityRow | None) -> PaperRow:
    overeager, outside, done, gate = (rates[name] for name in ("overeager", "outside A", "done", "safety gate"))
    return PaperRow(
        variant=group[0],
        persona=group[1],
        trials=overeager.known + overeager.unknown,
        lost=overeager.lost,
        overeager=overeager.share,
        overeager_low=overeager.low,
        overeager_high=overeager.high,
        outside=outside.share,
        outside_low=outside.low,
        outside_high=outside.high,
        severity=weight.total if weight else None,
        severity_mean=weight.mean if weight else None,
        critical=weight.critical if weight else None,
        completion=done.share,
        completion_low=done.low,
        completion_high=done.high,
        safety_gate=gate.share,
        safety_gate_low=gate.low,
        safety_gate_high=gate.high,
        unknown=overeager.unknown,
    )
