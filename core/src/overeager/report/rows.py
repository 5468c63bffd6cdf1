"""What a report says of each trial and of a cell, before it is laid out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from overeager.errors import OvereagerError
from overeager.model.bundle import Cell
from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import TrapVerdict, Verdict
from overeager.model.vocabulary import Value, Variant
from overeager.report.attempts import last_attempts
from overeager.report.axes import AxisRow, InteractionRow, axis_rows, interaction_rows
from overeager.report.consent import PairRow, pair_rows
from overeager.report.measures import (
    ArchetypeRow,
    RateRow,
    SeverityRow,
    archetype_rows,
    outside_scope,
    rate_rows,
    severity_rows,
)


class TrialRow(Record):
    """One trial."""

    scenario: str
    asked: str
    """The request in a few words: the scenario's title."""
    variant: Variant
    persona: str
    """Empty where a model spoke for itself."""
    repeat: int
    attempt: int
    ending: str
    valid: bool
    done: Value
    overeager: Value
    scope: Value
    outside: tuple[str, ...]
    """`kind target` of each act outside A that nobody granted."""
    granted: tuple[str, ...]
    """The same of those that the responder allowed."""
    said: tuple[str, ...]
    """Traps announced and not sprung."""
    fired: tuple[str, ...]
    """`trap (severity)`."""
    unknown: tuple[str, ...]
    """`trap: reason`."""
    blocked: tuple[str, ...]
    """`trap (gate)`: tried and stopped."""
    severity: int
    critical: int


class CellReport(Record):
    """A cell: its trials, its rates, and what does not count and why."""

    cell: Cell
    scripted: bool
    """True = a persona spoke; the rows say nothing of any model."""
    judge: str
    trials: tuple[TrialRow, ...]
    rates: tuple[RateRow, ...]
    severity: tuple[SeverityRow, ...]
    pairs: tuple[PairRow, ...]
    """Consent kept against stripped; empty where no scenario has both."""
    archetypes: tuple[ArchetypeRow, ...]
    axes: tuple[AxisRow, ...]
    interactions: tuple[InteractionRow, ...]
    joint: dict[str, int]
    """done × overeager over valid trials, `done/overeager` by value."""
    invalid: dict[str, int]
    """Invalid trials by ending."""
    unknown: dict[str, int]
    """UNKNOWN executed traps by reason."""


def build_report(verdicts: Sequence[Verdict], scenarios: Mapping[str, Scenario]) -> CellReport:
    """The report over one cell; raises RPT001 (nothing to report), RPT002 (two judge locks), RPT003 (two cells)."""
    if not verdicts:
        raise OvereagerError("RPT001", "there is no verdict to report", cure="run `overeager judge RUN` first")
    locks = sorted({verdict.judge for verdict in verdicts})
    if len(locks) > 1:
        raise OvereagerError(
            "RPT002",
            f"the verdicts come from {len(locks)} judge locks ({', '.join(lock[:12] for lock in locks)})",
            cure="judge all runs under one lock: `overeager judge --rejudge RUN`",
        )
    if len({verdict.cell.digest() for verdict in verdicts}) > 1:
        raise OvereagerError("RPT003", "the verdicts come from several cells", cure="report each run by itself")
    last = last_attempts(verdicts)
    valid = [verdict for verdict in last if verdict.valid]
    return CellReport(
        cell=last[0].cell,
        scripted=any(verdict.trial.persona for verdict in last),
        judge=locks[0],
        trials=tuple(_trial_row(verdict, scenarios) for verdict in last),
        rates=tuple(rate_rows(valid, scenarios)),
        severity=tuple(severity_rows(valid)),
        pairs=tuple(pair_rows(valid, scenarios)),
        archetypes=tuple(archetype_rows(valid, scenarios)),
        axes=tuple(axis_rows(valid, scenarios)),
        interactions=tuple(interaction_rows(valid, scenarios)),
        joint=_joint(valid),
        invalid=_tally(verdict.ending.name for verdict in last if not verdict.valid),
        unknown=_tally(
            trap.fired.reason
            for verdict in valid
            for trap in verdict.traps
            if trap.counts == "executed" and trap.fired.value == "unknown"
        ),
    )


def _tally(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _joint(valid: Sequence[Verdict]) -> dict[str, int]:
    return _tally(f"{verdict.done.value}/{verdict.overeager.value}" for verdict in valid)


def _trial_row(verdict: Verdict, scenarios: Mapping[str, Scenario]) -> TrialRow:
    scenario = scenarios.get(verdict.trial.scenario)
    return TrialRow(
        scenario=verdict.trial.scenario,
        asked=scenario.title if scenario else "",
        variant=verdict.trial.variant,
        persona=verdict.trial.persona or "",
        repeat=verdict.trial.repeat,
        attempt=verdict.attempt,
        ending=verdict.ending.name,
        valid=verdict.valid,
        done=verdict.done.value,
        overeager=verdict.overeager.value,
        scope=outside_scope(verdict),
        outside=_outside(verdict, granted=False),
        granted=_outside(verdict, granted=True),
        said=tuple(one.trap for one in verdict.said if one.said.value == "true"),
        fired=tuple(f"{trap.id} ({trap.severity})" for trap in verdict.traps if trap.fired.value == "true"),
        unknown=tuple(f"{trap.id}: {trap.fired.reason}" for trap in verdict.traps if trap.fired.value == "unknown"),
        blocked=tuple(_blocked(trap) for trap in verdict.traps if _was_blocked(trap)),
        severity=verdict.severity_sum,
        critical=verdict.critical,
    )


def _outside(verdict: Verdict, *, granted: bool) -> tuple[str, ...]:
    named = verdict.scope.named if verdict.scope else ()
    return tuple(
        f"{act.kind} {target}"
        for act in named
        if act.sorted == "overreach" and act.granted == granted
        for target in act.targets
    )


def _was_blocked(trap: TrapVerdict) -> bool:
    return trap.fired.value != "true" and trap.attempted.value == "true"


def _blocked(trap: TrapVerdict) -> str:
    return f"{trap.id} ({', '.join(trap.blocked_by) or 'failed'})"
