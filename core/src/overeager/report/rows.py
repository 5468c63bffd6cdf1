"""What a report says of each trial and of a cell, before it is laid out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from overeager.errors import OvereagerError
from overeager.model.bundle import Cell, TrialId
from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import TrapVerdict, Verdict
from overeager.model.vocabulary import Channel, Value, Variant
from overeager.report.archetypes import ArchetypeRow, archetype_rows
from overeager.report.attempts import last_attempts
from overeager.report.axes import AxisRow, InteractionRow, axis_rows, interaction_rows
from overeager.report.blind import find_lacking
from overeager.report.consent import PairRow, pair_rows
from overeager.report.groups import make_groups
from overeager.report.joint import JointRow, joint_rows
from overeager.report.locks import is_scripted, one_lock
from overeager.report.measures import RateRow, SeverityRow, outside_scope, rate_rows, severity_rows, weighed
from overeager.report.paper import PaperRow, paper_rows
from overeager.report.profiles import one_profile
from overeager.report.support import Needs


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
    severity: int | None
    """At least so much, where a trap is unknown; None where nothing is known, or the trial does not count."""
    critical: int | None


class CellReport(Record):
    """A cell: its trials, its rates, and what does not count and why."""

    run: str = ""
    """Name of the run's folder."""
    bench: str = ""
    generator_seed: int | None = None
    """That the bench states; None where it states none."""
    cell: Cell
    scripted: bool
    """True = a persona spoke; the rows say nothing of any model."""
    judge: str
    profile: str = "full"
    """Through which channels the judge looked."""
    trials: tuple[TrialRow, ...]
    rates: tuple[RateRow, ...]
    severity: tuple[SeverityRow, ...]
    paper: tuple[PaperRow, ...]
    """The same as the paper lays it out."""
    pairs: tuple[PairRow, ...]
    """Consent kept against stripped; empty where no scenario has both."""
    archetypes: tuple[ArchetypeRow, ...]
    axes: tuple[AxisRow, ...]
    interactions: tuple[InteractionRow, ...]
    joint: tuple[JointRow, ...]
    """The headline: done × overeager, by both verdicts, over valid trials."""
    invalid: dict[str, int]
    """Invalid trials by ending."""
    unsealed: int
    """Planned trials without a sealed attempt; they widen the bounds of every rate."""
    unknown: dict[str, int]
    """UNKNOWN executed traps by reason."""
    lacking: tuple[Channel, ...] = ()
    """Channels that no valid trial had: what rests on one of them is in no share, and in the bounds alone."""


def build_report(
    verdicts: Sequence[Verdict],
    scenarios: Mapping[str, Scenario],
    planned: Sequence[TrialId] = (),
    needs: Needs | None = None,
) -> CellReport:
    """The report over one cell, of which `planned` were to be run; raises RPT001 (nothing to report), RPT002 (two judge
    locks), RPT003 (two cells), RPT007 (two profiles).

    What by `needs` rests on a channel that no valid trial had is in no share.
    """
    if not verdicts:
        raise OvereagerError("RPT001", "there is no verdict to report", cure="run `overeager judge RUN` first")
    judge = one_lock(verdicts)
    profile = one_profile(verdicts)
    if len({verdict.cell.digest() for verdict in verdicts}) > 1:
        raise OvereagerError("RPT003", "the verdicts come from several cells", cure="report each run by itself")
    last = last_attempts(verdicts)
    valid = [verdict for verdict in last if verdict.valid]
    groups = make_groups(last, planned, needs)
    rates, severity = rate_rows(groups, scenarios), severity_rows(groups)
    return CellReport(
        cell=last[0].cell,
        scripted=is_scripted(last),
        judge=judge,
        profile=profile,
        trials=tuple(_trial_row(verdict, scenarios) for verdict in last),
        rates=tuple(rates),
        severity=tuple(severity),
        paper=tuple(paper_rows(rates, severity)),
        pairs=() if is_scripted(last) else tuple(pair_rows(groups, scenarios)),
        archetypes=tuple(archetype_rows(groups, scenarios)),
        axes=tuple(axis_rows(groups, scenarios)),
        interactions=tuple(interaction_rows(groups, scenarios)),
        joint=tuple(joint_rows(groups)),
        invalid=_tally(verdict.ending.name for verdict in last if not verdict.valid),
        unsealed=len({trial.name for trial in planned} - {verdict.trial.name for verdict in last}),
        unknown=_tally(
            trap.fired.reason
            for verdict in valid
            for trap in verdict.traps
            if trap.counts == "executed" and trap.fired.value == "unknown"
        ),
        lacking=tuple(sorted(find_lacking(last, needs or {}))),
    )


def _tally(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _trial_row(verdict: Verdict, scenarios: Mapping[str, Scenario]) -> TrialRow:
    scenario = scenarios.get(verdict.trial.scenario)
    known = weighed(verdict) and (verdict.valid or verdict.overeager.value == "true")
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
        severity=verdict.severity_sum if known else None,
        critical=verdict.critical if known else None,
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
