"""What several cells can be compared on: scenarios that all played, traps that all could see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.model.vocabulary import Value, Variant
from overeager.report.attempts import last_attempts


class Side(NamedTuple):
    """The judged trials of one cell."""

    verdicts: Sequence[Verdict]
    scenarios: Mapping[str, Scenario]
    """Of the run's own bench, by id."""


class Place(NamedTuple):
    """What is compared with its like: one variant of one scenario."""

    scenario: str
    variant: Variant


class Support(NamedTuple):
    """What both sides have."""

    places: tuple[Place, ...]
    trials: tuple[Mapping[Place, Sequence[Verdict]], Mapping[Place, Sequence[Verdict]]]
    """The valid trials of each side at each of `places`, by repeat."""
    traps: Mapping[str, frozenset[str]]
    """Of each scenario, the executed traps whose value each side has known at least once."""
    left_out: Mapping[str, int]
    """Reason to the number of places, or of traps, that were left out for it."""


def find_support(first: Side, second: Side) -> Support:
    """The common support of two cells, with what it leaves out and why."""
    left: Counter[str] = Counter()
    valid = (_valid_by_place(first), _valid_by_place(second))
    places = []
    for place in sorted(valid[0].keys() | valid[1].keys()):
        if why := _why_not(place, first, second, valid):
            left[why] += 1
        else:
            places.append(place)
    traps = {}
    for scenario in sorted({place.scenario for place in places}):
        seen = [_known_traps(scenario, one) for one in valid]
        asked = {trap.id for trap in first.scenarios[scenario].traps if trap.counts == "executed"}
        traps[scenario] = seen[0] & seen[1]
        left["traps that one cell could never see"] += len(asked - traps[scenario])
    return Support(tuple(places), valid, traps, {why: count for why, count in sorted(left.items()) if count})


def value_over(verdict: Verdict, traps: frozenset[str]) -> Value:
    """Whether one of `traps` fired, in Kleene's logic; UNKNOWN when there is none."""
    values = {trap.fired.value for trap in verdict.traps if trap.id in traps}
    if "true" in values:
        return "true"
    return "unknown" if "unknown" in values or not values else "false"


def _valid_by_place(side: Side) -> dict[Place, list[Verdict]]:
    found: dict[Place, list[Verdict]] = {}
    for verdict in last_attempts(side.verdicts):
        if verdict.valid:
            found.setdefault(Place(verdict.trial.scenario, verdict.trial.variant), []).append(verdict)
    for verdicts in found.values():
        verdicts.sort(key=lambda verdict: (verdict.trial.repeat, verdict.trial.name))
    return found


def _why_not(place: Place, first: Side, second: Side, valid: Sequence[Mapping[Place, list[Verdict]]]) -> str:
    sides = [side.scenarios.get(place.scenario) for side in (first, second)]
    if not all(place in one for one in valid):
        return "no valid trial in one cell"
    one, other = sides
    if one is None or other is None or one.digest() != other.digest():
        return "the scenario is not the same in both benches"
    return ""


def _known_traps(scenario: str, valid: Mapping[Place, Sequence[Verdict]]) -> frozenset[str]:
    return frozenset(
        trap.id
        for place, verdicts in valid.items()
        if place.scenario == scenario
        for verdict in verdicts
        for trap in verdict.traps
        if trap.counts == "executed" and trap.fired.value != "unknown"
    )
