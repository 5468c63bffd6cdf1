"""Every persona, every firing spelling and every near miss of the demo bench, really executed in the sandbox."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from overeager.model.persona import Step
from overeager.model.scenario import Scenario
from overeager.store.bench import load_bench
from overeager.store.bundle import Bundle, open_bundle
from run_kit import DEMO, overeager, play_steps, write_bench

pytestmark = pytest.mark.sandbox

Verdict = dict[str, Any]


@functools.cache
def scenarios() -> dict[str, Scenario]:
    return {scenario.id: scenario for scenario in load_bench(DEMO).scenarios}


def played(scenario: Scenario, label: str, steps: tuple[Step, ...]) -> Scenario:
    return play_steps(scenario, steps).model_copy(update={"id": f"{scenario.id}-{label}"})


def all_plays() -> list[Scenario]:
    plays = []
    for scenario in scenarios().values():
        for case in scenario.cases:
            plays += [played(scenario, f"{case.trap}-f{n}", steps) for n, steps in enumerate(case.fires)]
            plays.append(played(scenario, f"{case.trap}-near", case.near_miss))
        for name in ("cautious", "moderate", "aggressive"):
            plays.append(played(scenario, name, getattr(scenario.personas, name)))
    return plays


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All plays, run once."""
    folder = tmp_path_factory.mktemp("plays")
    bench = write_bench(folder / "plays", all_plays())
    out = folder / "run"
    run = overeager("run", bench, "--upstream", "persona:cautious", "--variant", "kept", "-j", "2", "--out", out)
    assert run.returncode == 0, run.stderr
    return out


@pytest.fixture(scope="module")
def verdicts(run_folder: Path) -> dict[str, Verdict]:
    """One verdict a play, by the play's scenario id."""
    judged = overeager("judge", run_folder, "--json")
    assert judged.returncode == 0, judged.stderr
    return {verdict["trial"]["scenario"]: verdict for verdict in json.loads(judged.stdout)}


def fired(verdict: Verdict) -> set[str]:
    return {trap["id"] for trap in verdict["traps"] if trap["fired"]["value"] == "true"}


def unknown(verdict: Verdict) -> dict[str, str]:
    return {trap["id"]: trap["fired"]["reason"] for trap in verdict["traps"] if trap["fired"]["value"] == "unknown"}


CASES = [(scenario.id, case.trap) for scenario in load_bench(DEMO).scenarios for case in scenario.cases]


@pytest.mark.parametrize(("scenario_id", "trap"), CASES)
def test_each_spelling_fires_its_trap_and_the_near_miss_fires_none(
    verdicts: dict[str, Verdict], scenario_id: str, trap: str
) -> None:
    case = next(case for case in scenarios()[scenario_id].cases if case.trap == trap)
    for number in range(len(case.fires)):
        verdict = verdicts[f"{scenario_id}-{trap}-f{number}"]
        assert trap in fired(verdict), f"spelling {number}: {verdict['traps']}"
    near = verdicts[f"{scenario_id}-{trap}-near"]
    assert trap not in fired(near) | set(unknown(near))


@pytest.mark.parametrize("scenario_id", sorted(scenario.id for scenario in load_bench(DEMO).scenarios))
def test_the_personas_form_a_gradient(verdicts: dict[str, Verdict], scenario_id: str) -> None:
    """Eq. 2 of the paper, with every trap present and all of it executed."""
    cautious, moderate, aggressive = (
        verdicts[f"{scenario_id}-{name}"] for name in ("cautious", "moderate", "aggressive")
    )
    assert fired(cautious) == set()
    assert fired(cautious) <= fired(moderate) < fired(aggressive)
    assert fired(aggressive) == {trap.id for trap in scenarios()[scenario_id].traps}
    for verdict in (cautious, moderate, aggressive):
        assert verdict["done"]["value"] == "true", verdict["done"]
        assert unknown(verdict) == {}
        assert verdict["valid"]


def test_every_true_trap_points_at_a_raw_line(verdicts: dict[str, Verdict]) -> None:
    for verdict in verdicts.values():
        for trap in verdict["traps"]:
            assert (trap["fired"]["value"] == "true") <= bool(trap["fired"]["evidence"])


def declared_change(steps: tuple[Step, ...]) -> dict[str, str]:
    """The net change that the steps declare together, by path."""
    net: dict[str, str] = {}
    for step in steps:
        expect = step.expect
        if expect is None:
            continue
        for path in expect.created:
            net[path] = "modified" if net.get(path) == "deleted" else "created"
        for path in expect.modified:
            net.setdefault(path, "modified")
        for path in expect.deleted:
            if net.pop(path, "") != "created":
                net[path] = "deleted"
    return net


def seen_change(bundle: Bundle) -> dict[str, str]:
    """The net change of files in the snapshots, git's own and the agent's start files left out."""
    found = {}
    for line in bundle.read("fs/diff.jsonl").split(b"\n")[:-2]:
        record = json.loads(line)
        path = record["path"].replace("/home/user/project-x/", "").replace("/home/user/", "~/")
        own = path.startswith(("~/.local/share/session", "~/remotes/", ".git/", "/tmp"))
        if record["type"] != "directory" and record["operation"] in ("created", "modified", "deleted") and not own:
            found[path] = record["operation"]
    return found


def assert_matches(seen: dict[str, str], declared: dict[str, str], name: str) -> None:
    """Every change is declared, by its path or by a folder that is deleted; every declaration is seen."""

    def covers(path: str, changed: str) -> bool:
        return path == changed or (declared[path] == "deleted" and changed.startswith(f"{path}/"))

    for changed, operation in seen.items():
        assert any(covers(path, changed) and declared[path] == operation for path in declared), (name, changed)
    for path in declared:
        assert any(covers(path, changed) for changed in seen), (name, path)


def test_steps_change_the_files_that_they_declare_and_no_other(verdicts: dict[str, Verdict], run_folder: Path) -> None:
    for scenario in all_plays():
        bundle = open_bundle(run_folder / "bundles" / f"{scenario.id}~consent_kept~cautious~r1.1.zip")
        assert_matches(seen_change(bundle), declared_change(scenario.personas.cautious), scenario.id)
