"""What several cells can be compared on: scenarios that all played, and what all could do and see there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from overeager.contract.evidence import AtomDeclaration
from overeager.judge.outside import RULING
from overeager.judge.profile import FULL, Profile
from overeager.model.condition import Condition
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.model.vocabulary import CHANNELS, Channel, PersonaName, Value, Variant
from overeager.report.attempts import last_attempts

TRAP, ATTEMPTED = "trap", "attempted"
"""What is judged of each trap."""
DONE, SCOPE, DISCLOSED = "done", "scope", "disclosed"
"""What is judged of a scenario besides its traps."""

Needs: TypeAlias = Mapping[str, Mapping[tuple[str, str], frozenset[Channel]]]
"""Scenario to (kind, id) to the channels without which it could never be FALSE."""


class Side(NamedTuple):
    """The judged trials of one cell."""

    verdicts: Sequence[Verdict]
    scenarios: Mapping[str, Scenario]
    """Of the run's own bench, by id."""
    needs: Needs = {}
    """Empty = not known; then a trap counts as seen when its value was ever known."""


class Place(NamedTuple):
    """What is compared with its like: one variant of one scenario, played by one persona or by a model."""

    scenario: str
    variant: Variant
    persona: PersonaName | None = None
    """None where each run has one persona at most: then the two are what is compared."""


class Seen(NamedTuple):
    """What both sides could see of a scenario."""

    traps: frozenset[str]
    """Executed traps."""
    done: bool
    scope: bool


class Support(NamedTuple):
    """What both sides have."""

    places: tuple[Place, ...]
    trials: tuple[Mapping[Place, Sequence[Verdict]], Mapping[Place, Sequence[Verdict]]]
    """The valid trials of each side at each of `places`, by repeat."""
    seen: Mapping[str, Seen]
    """By scenario."""
    left_out: Mapping[str, int]
    """Reason to the number of places, of traps or of scenarios that were left out for it."""


def find_needs(
    scenarios: Mapping[str, Scenario], atoms: Mapping[str, AtomDeclaration], profile: Profile = FULL
) -> Needs:
    """The channels that a judge with `profile` must have had to say FALSE of each condition, and of the scope."""
    return {name: dict(_needs(scenario, atoms, profile)) for name, scenario in scenarios.items()}


def _needs(
    scenario: Scenario, atoms: Mapping[str, AtomDeclaration], profile: Profile
) -> Iterator[tuple[tuple[str, str], frozenset[Channel]]]:
    for trap in scenario.traps:
        yield (TRAP, trap.id), _ruling(trap.when, atoms, profile)
        yield (ATTEMPTED, trap.id), _ruling_attempts(trap.when, atoms, profile)
    yield (DONE, ""), _ruling(scenario.done, atoms, profile)
    yield (SCOPE, ""), frozenset(profile.narrow(RULING))
    yield (DISCLOSED, ""), frozenset(profile.narrow(("speech",)))


def _ruling(condition: Condition, atoms: Mapping[str, AtomDeclaration], profile: Profile) -> frozenset[Channel]:
    named = [atoms[str(node.atom)] for node in condition.atoms()]
    return frozenset(channel for atom in named for channel in _narrow(atom.ruled_out_by, atom.shown_by, profile))


def _narrow(ruling: Sequence[Channel], showing: Sequence[Channel], profile: Profile) -> Sequence[Channel]:
    """An atom that the profile mutes is never FALSE: then it needs what the profile leaves out."""
    return profile.narrow(ruling) if profile.narrow(showing) else ruling


def _ruling_attempts(
    condition: Condition, atoms: Mapping[str, AtomDeclaration], profile: Profile
) -> frozenset[Channel]:
    named = [atoms[str(node.atom)] for node in condition.atoms()]
    return frozenset(channel for atom in named for channel in _narrow(atom.attempted_by, atom.attempted_by, profile))


def find_support(first: Side, second: Side) -> Support:
    """The common support of two cells, with what it leaves out and why."""
    left: Counter[str] = Counter()
    apart = any(len({verdict.trial.persona for verdict in side.verdicts}) > 1 for side in (first, second))
    valid = (_valid_by_place(first, apart), _valid_by_place(second, apart))
    places = []
    for place in sorted(valid[0].keys() | valid[1].keys(), key=str):
        if why := _why_not(place, first, second, valid):
            left[why] += 1
        else:
            places.append(place)
    seen = {}
    for scenario in sorted({place.scenario for place in places}):
        one, other = (
            _see(first.scenarios[scenario], side, at) for side, at in zip((first, second), valid, strict=True)
        )
        seen[scenario] = Seen(one.traps & other.traps, one.done and other.done, one.scope and other.scope)
        asked = {trap.id for trap in first.scenarios[scenario].traps if trap.counts == "executed"}
        left["traps that one cell could never see"] += len(asked - seen[scenario].traps)
        left["scenarios whose completion one cell could never see"] += not seen[scenario].done
        left["scenarios whose scope one cell could never see"] += not seen[scenario].scope
    return Support(tuple(places), valid, seen, {why: count for why, count in sorted(left.items()) if count})


def value_over(verdict: Verdict, traps: frozenset[str]) -> Value:
    """Whether one of `traps` fired, in Kleene's logic; UNKNOWN when there is none."""
    values = {trap.fired.value for trap in verdict.traps if trap.id in traps}
    if "true" in values:
        return "true"
    return "unknown" if "unknown" in values or not values else "false"


def _valid_by_place(side: Side, apart: bool) -> dict[Place, list[Verdict]]:
    found: dict[Place, list[Verdict]] = {}
    for verdict in last_attempts(side.verdicts):
        if verdict.valid:
            trial = verdict.trial
            place = Place(trial.scenario, trial.variant, trial.persona if apart else None)
            found.setdefault(place, []).append(verdict)
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


def _see(scenario: Scenario, side: Side, valid: Mapping[Place, Sequence[Verdict]]) -> Seen:
    """What one cell could see of a scenario: a channel that it lacks leaves TRUE or UNKNOWN and never FALSE, so that
    the known values alone would be no fair share."""
    mine = [verdict for place, verdicts in valid.items() if place.scenario == scenario.id for verdict in verdicts]
    lacking = lacking_channels(mine)
    needs = side.needs.get(scenario.id, {})
    known = {
        trap.id
        for verdict in mine
        for trap in verdict.traps
        if trap.counts == "executed" and trap.fired.value != "unknown"
    }
    return Seen(
        traps=frozenset(trap for trap in known if lacking.isdisjoint(needs.get((TRAP, trap), ()))),
        done=lacking.isdisjoint(needs.get((DONE, ""), ())),
        scope=lacking.isdisjoint(needs.get((SCOPE, ""), ())),
    )


def lacking_channels(verdicts: Sequence[Verdict]) -> frozenset[Channel]:
    """The channels that none of the trials had."""
    had = {channel for verdict in verdicts for channel, health in verdict.channels.items() if health.state != "absent"}
    return frozenset(channel for channel in CHANNELS if channel not in had)
