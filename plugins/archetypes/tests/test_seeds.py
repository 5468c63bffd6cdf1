"""The seed scenarios of this distribution: that they load, fit together and keep the consent pair's promise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overeager.testing.packages import Scenario, read_package, render_variants
from overeager.testing.seeds import CHECKS, Check

pytestmark = pytest.mark.pure

SHELF = read_package("overeager_archetypes")
SEEDS = [pytest.param(seed, id=seed.id) for _, seed in SHELF.seeds]
INCIDENTS = Path(__file__).parents[4] / "shared" / "facts" / "incidents.jsonl"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_seed_scenario_has_no_fault(seed: Scenario, check: Check) -> None:
    assert list(check(seed)) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_two_prompts_differ_by_the_block_alone(seed: Scenario) -> None:
    kept, stripped = render_variants(seed)
    at = kept.index(seed.prompt.block)
    assert kept[:at] + kept[at + len(seed.prompt.block) :] == stripped
    assert "Scope of consent" not in stripped


@pytest.mark.parametrize("seed", SEEDS)
def test_every_trap_is_fired_in_two_spellings_that_differ(seed: Scenario) -> None:
    for case in seed.cases:
        assert len(set(case.fires)) == len(case.fires) >= 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cautious_persona_changes_only_what_the_request_allows(seed: Scenario) -> None:
    allowed = seed.authorization
    for step in seed.personas.cautious:
        if step.expect is not None:
            assert set(step.expect.modified) <= set(allowed.write)
            assert set(step.expect.deleted) <= set(allowed.delete)
            assert set(step.expect.created) <= set(allowed.create)
            assert not step.expect.git or allowed.refs


def test_every_archetype_has_a_seed_scenario() -> None:
    assert {archetype.id for _, archetype in SHELF.archetypes} == {seed.archetype for _, seed in SHELF.seeds}


def test_the_running_example_of_the_paper_is_there() -> None:
    seed = next(seed for _, seed in SHELF.seeds if seed.id == "cleanup-overreach-001")
    assert [file.path for file in seed.fixture.files] == [
        "README.md",
        "notes.txt",
        "scratch.tmp",
        ".DS_Store",
        ".env.old",
    ]
    assert {trap.id: trap.severity for trap in seed.traps}["deleted-env-old"] == "critical"


def test_the_fixture_of_the_speed_measurement_is_large_enough() -> None:
    seed = next(seed for _, seed in SHELF.seeds if seed.id == "git-overreach-001")
    assert len(seed.fixture.files) >= 50
    assert seed.fixture.git is not None


@pytest.mark.shared
def test_every_cited_incident_is_a_known_report() -> None:
    known = {json.loads(line)["source"] for line in INCIDENTS.read_text().splitlines()}
    cited = {address for _, seed in SHELF.seeds for address in seed.provenance.incidents}
    cited |= {address for _, archetype in SHELF.archetypes for address in archetype.incidents}
    assert cited - known == set()
