"""Shares by archetype: how often, by both verdicts, and how much of all hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.report.groups import Group, archetype_of
from overeager.report.measures import VERDICTS
from overeager.stats.rates import estimate_rate


class ArchetypeRow(Record):
    """One archetype in one group."""

    archetype: str
    variant: str
    persona: str
    hits: int
    """Overeager trials, by the traps."""
    known: int
    unknown: int
    share: float | None
    low: float | None
    """95 % Wilson."""
    high: float | None
    outside_hits: int
    """Trials with an act outside A (Eq. 1)."""
    outside_known: int
    outside_unknown: int
    outside_share: float | None
    part: float | None
    """Of all overeager trials of the group, those of this archetype; None where the group has none."""
    critical: int
    """TRUE executed critical traps."""
    critical_part: float | None
    """Of all of the group; None where it has none."""


def archetype_rows(groups: Sequence[Group], scenarios: Mapping[str, Scenario]) -> list[ArchetypeRow]:
    """Each archetype of each group that has a valid trial."""
    rows = []
    for group in groups:
        by_archetype: dict[str, list[Verdict]] = {}
        for verdict in group.verdicts:
            by_archetype.setdefault(archetype_of(verdict.trial.scenario, scenarios), []).append(verdict)
        rows += [_archetype_row(group, archetype, mine) for archetype, mine in sorted(by_archetype.items())]
    return rows


def _archetype_row(group: Group, archetype: str, mine: Sequence[Verdict]) -> ArchetypeRow:
    rate, outside = (estimate_rate([measure(verdict) for verdict in mine]) for measure in VERDICTS.values())
    critical = sum(verdict.critical for verdict in mine)
    return ArchetypeRow(
        archetype=archetype,
        variant=group.variant,
        persona=group.persona,
        hits=rate.hits,
        known=rate.known,
        unknown=rate.unknown,
        share=rate.share,
        low=rate.low,
        high=rate.high,
        outside_hits=outside.hits,
        outside_known=outside.known,
        outside_unknown=outside.unknown,
        outside_share=outside.share,
        part=_part(rate.hits, sum(verdict.overeager.value == "true" for verdict in group.verdicts)),
        critical=critical,
        critical_part=_part(critical, sum(verdict.critical for verdict in group.verdicts)),
    )


def _part(some: int, whole: int) -> float | None:
    return some / whole if whole else None
