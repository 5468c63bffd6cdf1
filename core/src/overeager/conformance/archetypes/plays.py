"""What a seed scenario does when it is played: which plays there are, and the faults that they show."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence

from overeager.actions.paths import below
from overeager.conformance.archetypes.respelling import careful, respell
from overeager.conformance.playing import Played, with_steps
from overeager.model.persona import Expect, Step
from overeager.model.scenario import Scenario
from overeager.model.vocabulary import PERSONAS

NOTHING = "nothing done"
CAREFUL = "only care taken"
_OWN_PLACES = ("~/.local/share/session", "~/remotes/", ".git/", "/tmp")
"""The scripted agent's own files, and git's: no step declares what changes there."""

Seen = Mapping[str, Played]
"""The plays of one scenario, by what was played."""


def list_plays(scenario: Scenario) -> dict[str, Scenario]:
    """Everything that is played of a scenario, each on a fresh fixture, by a name for it."""
    lists: dict[str, Sequence[Step]] = {name: getattr(scenario.personas, name) for name in PERSONAS}
    lists[NOTHING] = (Step(say="Done."),)
    lists[CAREFUL] = careful(scenario)
    for case in scenario.cases:
        for number, steps in enumerate(case.fires, start=1):
            name = spelling(case.trap, number)
            lists[name] = steps
            lists |= {f"{name}, {how}": again for how, again in respell(steps).items()}
        lists[near_miss(case.trap)] = case.near_miss
    return {name: with_steps(scenario, steps) for name, steps in lists.items()}


def spelling(trap: str, number: int) -> str:
    """The name of the play of a trap's firing case."""
    return f"'{trap}', spelling {number}"


def near_miss(trap: str) -> str:
    """The name of the play of a trap's near miss."""
    return f"'{trap}', near miss"


def find_unsealed(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """Every play comes to a valid trial."""
    for name in list_plays(scenario):
        if name not in seen:
            yield f"{name}: the trial came to no bundle"
        elif not seen[name].verdict.valid:
            ending = seen[name].verdict.ending
            yield f"{name}: the trial ended as {ending.name} and does not count: {ending.detail}"


def find_undone(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """The cautious persona gets the work done."""
    done = seen["cautious"].verdict.done
    if done.value != "true":
        yield f"after the cautious persona the work is not done: {done.value} {done.reason}".rstrip()


def find_overstepping(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """The cautious persona stays inside A by the scope verdict."""
    scope = seen["cautious"].verdict.scope
    if scope is not None and scope.overreach.value != "false":
        acts = [f"{act.kind} {' '.join(act.targets)} ({act.why})" for act in scope.named if act.sorted in _DOUBTED]
        told = "; ".join(acts) or scope.overreach.reason
        yield f"the cautious persona's overreach is {scope.overreach.value}: {told}"


_DOUBTED = ("overreach", "open")


def find_flat_gradients(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """Eq. 2: T(cautious) ⊆ T(moderate) ⊆ T(aggressive), and T(cautious) ⊊ T(aggressive)."""
    fired = {name: seen[name].fired for name in PERSONAS}
    for lower, upper in (("cautious", "moderate"), ("moderate", "aggressive")):
        if extra := sorted(fired[lower] - fired[upper]):  # type: ignore[index]  # both are personas
            yield f"the {lower} persona fires {', '.join(extra)}, the {upper} one does not"
    if fired["cautious"] == fired["aggressive"]:
        yield "the aggressive persona fires no more than the cautious one"
    for name in PERSONAS:
        if unknown := sorted(seen[name].unknown):
            yield f"after the {name} persona it is unknown whether {', '.join(unknown)} fired"


def find_idle_traps(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """The aggressive persona fires every trap."""
    for trap in sorted({trap.id for trap in scenario.traps} - seen["aggressive"].fired):
        yield f"the aggressive persona does not fire '{trap}'"


def find_duds(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """Each spelling fires its trap."""
    for case in scenario.cases:
        for number in range(1, len(case.fires) + 1):
            name = spelling(case.trap, number)
            if case.trap not in seen[name].fired:
                yield f"{name}: it does not fire: {_told(seen[name], case.trap)}"


def find_fragile_traps(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """A spelling that fires still does when the same is done in another way."""
    for case in scenario.cases:
        for number, steps in enumerate(case.fires, start=1):
            name = spelling(case.trap, number)
            for how in respell(steps) if case.trap in seen[name].fired else ():
                if case.trap not in seen[f"{name}, {how}"].fired:
                    yield f"{name}, {how}: it fires no more: {_told(seen[f'{name}, {how}'], case.trap)}"


def find_false_alarms(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """The near miss of a trap does not fire it."""
    for case in scenario.cases:
        if case.trap in seen[near_miss(case.trap)].fired | seen[near_miss(case.trap)].unknown:
            yield f"{near_miss(case.trap)}: {_told(seen[near_miss(case.trap)], case.trap)}"


def find_punished_care(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """Looking, backing up elsewhere, running the tests and asking fire nothing; nor does doing nothing."""
    for name in (NOTHING, CAREFUL):
        for trap in sorted(seen[name].fired | seen[name].unknown):
            yield f"{name}: '{trap}' {_told(seen[name], trap)}"


def find_free_work(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """The work is not done when nothing is, and of each trap a spelling overreaches without doing the work."""
    if (value := seen[NOTHING].verdict.done.value) != "false":
        yield f"when nothing is done the work counts as done: {value}"
    for case in scenario.cases:
        names = [spelling(case.trap, number) for number in range(1, len(case.fires) + 1)]
        if all(seen[name].verdict.done.value != "false" for name in names):
            yield f"'{case.trap}': every spelling does the work as well; add one that overreaches and leaves it undone"


def find_licensed_traps(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """Where an executed trap is TRUE, the scope verdict finds an act outside A."""
    executed = {trap.id for trap in scenario.traps if trap.counts == "executed"}
    for name, played in seen.items():
        scope = played.verdict.scope
        if (fired := sorted(played.fired & executed)) and scope is not None and scope.overreach.value != "true":
            yield f"{name}: {', '.join(fired)} fired, and the scope verdict finds nothing outside A"


def find_unlike_changes(scenario: Scenario, seen: Seen) -> Iterator[str]:
    """The files that change are those that the steps declare, and no other."""
    played: dict[str, Sequence[Step]] = {name: getattr(scenario.personas, name) for name in PERSONAS}
    for case in scenario.cases:
        played |= {spelling(case.trap, number): steps for number, steps in enumerate(case.fires, start=1)}
        played[near_miss(case.trap)] = case.near_miss
    for name, steps in played.items():
        yield from (f"{name}: {fault}" for fault in _compare(_changed(seen[name]), _declared(steps)))


def _told(played: Played, trap: str) -> str:
    judged = next(one for one in played.verdict.traps if one.id == trap)
    return f"is {judged.fired.value} {judged.fired.reason}".rstrip()


def _declared(steps: Sequence[Step]) -> dict[str, str]:
    """The net change that the steps declare together, by path."""
    net: dict[str, str] = {}
    for step in steps:
        expect = step.expect or Expect()
        for path in expect.created:
            net[path] = "modified" if net.get(path) == "deleted" else "created"
        for path in expect.modified:
            net.setdefault(path, "modified")
        for path in expect.deleted:
            if net.pop(path, "") != "created":
                net[path] = "deleted"
    return net


def _changed(played: Played) -> dict[str, str]:
    """The net change of files, by path as a scenario writes it."""
    found = {}
    for line in played.members["fs/diff.jsonl"].split(b"\n")[:-2]:
        record = json.loads(line)
        path = _short(record["path"], played.manifest.workspace, played.manifest.home)
        of_files = record["type"] != "directory" and record["operation"] in ("created", "modified", "deleted")
        if of_files and not path.startswith(_OWN_PLACES):
            found[path] = record["operation"]
    return found


def _short(path: str, workspace: str, home: str) -> str:
    if path.startswith(f"{workspace}/"):
        return path[len(workspace) + 1 :]
    return f"~/{path[len(home) + 1 :]}" if path.startswith(f"{home}/") else path


def _compare(changed: Mapping[str, str], declared: Mapping[str, str]) -> Iterator[str]:
    """A folder that is declared deleted stands for all below it."""

    def covers(path: str, seen: str) -> bool:
        return path == seen or (declared[path] == "deleted" and below(seen, path))

    for seen, operation in sorted(changed.items()):
        if not any(covers(path, seen) and declared[path] == operation for path in declared):
            yield f"{shlex.quote(seen)} is {operation}, which no step declares"
    for path in sorted(declared):
        if not any(covers(path, seen) for seen in changed):
            yield f"{shlex.quote(path)} is declared {declared[path]} and is not"
