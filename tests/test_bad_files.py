"""Benches, scenarios and packages that are wrong: refused by the command line with code, place and cure."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bad_kit import SCENARIO, TESTS, check_refusal, files_below, install_distribution, install_misfit, refusal
from overeager.model.condition import Condition
from overeager.model.scenario import Scenario
from run_kit import demo_scenario, overeager, write_bench

SCENARIOS = sorted((TESTS / "bad_input" / "scenarios").glob("*.yaml"))
SEEDS = sorted((TESTS / "bad_input" / "seeds").glob("*.yaml"))
MANIFEST = """\
schema_version: 1
name: bad
title: Everything is wrong here.
judge: {{code: {zero}, atoms: {{}}, shims: {{}}, agents: {{}}, conditions: {zero}}}
scenarios:
"""
ARCHETYPE = """\
schema_version: 1
id: cleanup
title: Cleanup
meaning: Removes more than was asked.
tier: high
anchors:
  - {id: LLM06, source: OWASP, year: 2025, reason: agency}
  - {id: CWE-285, source: CWE, reason: authorization}
  - {id: ASI02, source: OWASP, year: 2026, reason: tools}
incidents: [https://example.com/1]
"""


def wrong_line(path: Path) -> int:
    """The line of a bad file that says of itself that it is wrong."""
    return next(number for number, text in enumerate(path.read_bytes().split(b"\n"), start=1) if b"# wrong" in text)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """What `overeager run` says of a bench of nothing but bad scenarios, and the name that each has there."""
    bench = tmp_path_factory.mktemp("swept") / "bad"
    (bench / "scenarios").mkdir(parents=True)
    names = {path.stem: f"s{number:02}" for number, path in enumerate(SCENARIOS)}
    entry = "  - {{id: {}, sha256: {}, archetype: cleanup, seed_scenario: cleanup-001}}\n"
    zero = "'" + "0" * 64 + "'"
    entries = "".join(entry.format(name, zero) for name in names.values())
    (bench / "manifest.yaml").write_text(MANIFEST.format(zero=zero) + entries)
    for path in SCENARIOS:
        shutil.copy(path, bench / "scenarios" / f"{names[path.stem]}.yaml")
    said = refusal("run", bench, "--out", bench / "run", code="SCN001")
    assert not (bench / "run").exists()
    return said, names


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_run_refuses_a_bad_scenario_at_its_line(path: Path, swept: tuple[str, dict[str, str]]) -> None:
    said, names = swept
    place = f"scenarios/{names[path.stem]}.yaml:{wrong_line(path)}\n"
    (told,) = [text for text in said.split("\nSCN") if place in text + "\n" and path.stem[3:6] in text[:6]]
    assert "\n  in " in told
    assert told.count("\n") >= 2 or path.stem[:6] in ("SCN025", "SCN026"), "no cure; those two state their rule"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `overeager bench build` says where an installed archetype package holds nothing but bad seed scenarios."""
    site = tmp_path_factory.mktemp("site")
    seeds = site / "some_archetypes" / "cleanup" / "seeds"
    seeds.mkdir(parents=True)
    (seeds.parent / "archetype.yaml").write_text(ARCHETYPE)
    (seeds.parents[1] / "__init__.py").write_text("api = 1\n")
    for number, path in enumerate(SEEDS):
        name = f"cleanup-{number:03}"
        (seeds / f"{name}.yaml").write_text(path.read_text().replace("\nid: cleanup-001\n", f"\nid: {name}\n"))
    install_distribution(site, "some-archetypes", "archetypes", "some = some_archetypes")
    said = refusal("bench", "build", site / "bench", environment={"PYTHONPATH": str(site)}, code="SCN110")
    assert not (site / "bench").exists()
    return said


@pytest.mark.parametrize(("number", "path"), list(enumerate(SEEDS)), ids=[path.stem for path in SEEDS])
def test_a_build_refuses_a_bad_seed_scenario_at_its_line(number: int, path: Path, built: str) -> None:
    place = f"  in some_archetypes/cleanup/seeds/cleanup-{number:03}.yaml:{wrong_line(path)}"
    lines = built.splitlines()
    assert lines[lines.index(place) - 1].startswith(f"{path.stem[:6]} ")
    assert lines[lines.index(place) + 1].startswith("  "), "no cure"


def with_condition(atom: str, **parameters: str) -> Scenario:
    scenario = demo_scenario(SCENARIO)
    condition = Condition.model_validate({atom: parameters})
    return scenario.model_copy(update={"done": condition})


@pytest.mark.parametrize("command", ["run", "judge", "bench lint", "bench relock"])
def test_an_unknown_atom_stops_every_command_that_needs_it(command: str, tmp_path: Path) -> None:
    bench = write_bench(tmp_path / "bench", [with_condition("fs.deletd", path="scratch.tmp")])
    target = bench
    if command == "judge":  # a run folder from elsewhere
        target = tmp_path / "run"
        shutil.copytree(bench, target / "bench")
        (target / "run.json").write_text(plan_of(bench))
    before = files_below(tmp_path)
    said = refusal(*command.split(), target, code="SCN110")
    assert "done names atom 'fs.deletd', which no installed plugin offers" in said
    assert "did you mean 'fs.deleted'?" in said
    line = next(
        n
        for n, text in enumerate((bench / f"scenarios/{SCENARIO}.yaml").read_text().split("\n"), 1)
        if "deletd" in text
    )
    assert f"{SCENARIO}.yaml:{line}\n" in said
    assert files_below(tmp_path) == before


def plan_of(bench: Path) -> str:
    return (
        '{"schema_version": 1, "bench": "bench", "bench_digest": "' + "0" * 64 + '", "trials": [], "product": "0.1", '
        '"cell": {"agent": "scripted", "version": "1", "mode": "scripted", "upstream": "persona", "model": "scripted", '
        '"responder": "nobody", "sandbox": "bubblewrap", "kernel": true}}'
    )


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return write_bench(tmp_path / "bench", [demo_scenario(SCENARIO)])


def manifest_with(bench: Path, old: str, new: str) -> None:
    path = bench / "manifest.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_scenario_that_stands_twice_in_a_bench_is_refused(bench: Path) -> None:
    text = (bench / "manifest.yaml").read_text()
    entry = text[text.index("scenarios:\n") + len("scenarios:\n") :].split("\n- ")[0].rstrip()
    entry = entry[: entry.index("\nschema_version")] if "\nschema_version" in entry else entry
    manifest_with(bench, "scenarios:\n", f"scenarios:\n{entry}\n")
    assert f"the scenario '{SCENARIO}' stands twice" in refusal("run", bench, code="BEN007")


def test_a_seed_scenario_that_two_packages_bring_is_refused_with_both_places(tmp_path: Path) -> None:
    for name in ("one_archetypes", "two_archetypes"):
        seeds = tmp_path / name / "cleanup" / "seeds"
        seeds.mkdir(parents=True)
        (seeds.parent / "archetype.yaml").write_text(ARCHETYPE)
        (seeds.parents[1] / "__init__.py").write_text("api = 1\n")
        shutil.copy(TESTS / "bad_input" / "valid-scenario.yaml", seeds / "cleanup-001.yaml")
        install_distribution(tmp_path, name.replace("_", "-"), "archetypes", f"{name[:3]} = {name}")
    said = refusal("bench", "build", tmp_path / "bench", environment={"PYTHONPATH": str(tmp_path)}, code="SCN108")
    assert "the seed scenario 'cleanup-001' exists twice" in said
    assert "in two_archetypes/cleanup/seeds/cleanup-001.yaml" in said
    assert "the other stands in one_archetypes/cleanup/seeds/cleanup-001.yaml" in said


def test_an_agent_that_two_distributions_bring_is_refused_with_both_names(bench: Path, tmp_path: Path) -> None:
    environment = install_misfit(tmp_path / "site")
    install_distribution(tmp_path / "site", "other-misfit", "agents", "misfit = overeager_agent_misfit:MisfitAgent")
    said = refusal("run", bench, "--agent", "misfit", "--out", tmp_path / "run", environment=environment, code="PLG005")
    assert "other-misfit 0.1" in said
    assert "overeager-agent-misfit 0.1" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("part", ["manifest.yaml", "scenarios", f"scenarios/{SCENARIO}.yaml"])
def test_a_bench_that_leads_out_of_its_folder_by_a_link_is_refused(bench: Path, part: str) -> None:
    outside = bench.parent / "outside"
    (bench / part).rename(outside)
    (bench / part).symlink_to(outside)
    assert "a bench holds no links" in refusal("run", bench, "--out", bench.parent / "run", code="BEN009")


def test_a_bench_that_lists_a_scenario_outside_is_refused_at_its_line(bench: Path) -> None:
    manifest_with(bench, f"id: {SCENARIO}", "id: ../../outside")
    said = refusal("run", bench, "--out", bench.parent / "run", code="SCN024")
    assert "manifest.yaml:" in said


def test_a_scenario_that_was_changed_after_the_build_is_refused(bench: Path) -> None:
    path = bench / "scenarios" / f"{SCENARIO}.yaml"
    path.write_text(path.read_text().replace("Tidy up", "Tidy  up"))
    assert str(path) in refusal("run", bench, "--out", bench.parent / "run", code="BEN005")


def test_a_manifest_whose_aliases_explode_is_refused_at_once(bench: Path) -> None:
    bomb = "bomb0: &b0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"bomb{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    (bench / "manifest.yaml").write_text(bomb + (bench / "manifest.yaml").read_text())
    assert "use fewer aliases" in refusal("run", bench, "--out", bench.parent / "run", code="SCN006")


def test_a_bench_of_another_schema_version_is_refused(bench: Path) -> None:
    manifest_with(bench, "schema_version: 1", "schema_version: 2")
    assert "manifest.yaml:" in refusal("run", bench, "--out", bench.parent / "run", code="BEN002")


def test_a_build_does_not_write_over_a_folder_that_is_no_bench(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    refusal("bench", "build", tmp_path, code="BEN008")
    assert files_below(tmp_path) == {"notes.txt": b"mine"}


def test_a_bench_cannot_have_any_name(tmp_path: Path) -> None:
    assert "lower-case words" in refusal("bench", "build", tmp_path / "My Bench", code="BEN014")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sandbox
def test_only_what_the_manifest_lists_is_copied_into_a_run(bench: Path, tmp_path: Path) -> None:
    (bench / "notes").symlink_to("/etc")
    done = overeager("run", bench, "--upstream", "persona:cautious", "--variant", "kept", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert sorted(files_below(tmp_path / "run" / "bench")) == ["manifest.yaml", f"scenarios/{SCENARIO}.yaml"]


def test_a_usage_error_is_2_and_offers_the_near_miss(bench: Path) -> None:
    done = overeager("run", bench, "--varient", "kept")
    assert done.returncode == 2
    assert "--variant" in done.stderr
    with pytest.raises(AssertionError):
        check_refusal(done, "RUN001")
