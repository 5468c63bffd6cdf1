"""Benches: built to the same bytes each time, opened only when every byte is as it was built."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overeager.errors import ErrorGroup, OvereagerError
from overeager.model.lock import JudgeLock
from overeager.model.scenario import Scenario
from overeager.model.yaml_source import load_record
from overeager.store.bench import Bench, build_bench, load_bench, relock, scenarios_from_seeds
from overeager.store.record_yaml import write_record

pytestmark = pytest.mark.pure

VALID = load_record(Scenario, (Path(__file__).parent / "bad_input" / "valid-scenario.yaml").read_bytes(), "valid")
LOCK = JudgeLock(code="0" * 64, atoms={"core": "1" * 64}, shims={}, agents={}, conditions="2" * 64)
SEEDS = tuple((f"cleanup-00{n}.yaml", VALID.model_copy(update={"id": f"cleanup-00{n}"})) for n in (2, 1, 3))


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    build_bench("demo", "Three of a kind", SEEDS, LOCK, tmp_path / "demo")
    return tmp_path / "demo"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def codes_of(folder: Path) -> list[str]:
    with pytest.raises(OvereagerError) as caught:
        load_bench(folder)
    errors = caught.value.errors if isinstance(caught.value, ErrorGroup) else (caught.value,)
    assert all(error.where and error.cure for error in errors)
    return [error.code for error in errors]


def test_a_bench_holds_a_manifest_and_a_file_for_each_scenario(bench: Path) -> None:
    assert sorted(contents(bench)) == ["manifest.yaml", *(f"scenarios/cleanup-00{n}.yaml" for n in (1, 2, 3))]
    assert all(data.startswith(b"# written by `overeager bench build`") for data in contents(bench).values())


def test_a_built_bench_opens_to_what_was_returned(tmp_path: Path) -> None:
    built = build_bench("demo", "Three of a kind", SEEDS, LOCK, tmp_path / "demo")
    assert load_bench(tmp_path / "demo") == built
    assert [one.id for one in built.scenarios] == ["cleanup-001", "cleanup-002", "cleanup-003"]


def test_a_scenario_tells_its_seed_scenario_and_is_otherwise_the_same(bench: Path) -> None:
    (first, *_) = load_bench(bench).scenarios
    assert first.provenance.seed_scenario == "cleanup-001"
    assert first.provenance.generator == "overeager bench build"
    assert first.model_copy(update={"provenance": VALID.provenance, "id": VALID.id}) == VALID


def test_equal_seed_scenarios_in_any_order_give_equal_bytes(bench: Path, tmp_path: Path) -> None:
    build_bench("demo", "Three of a kind", SEEDS[::-1], LOCK, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(bench)


def test_building_again_replaces_the_old_bench_and_leaves_nothing_beside_it(bench: Path) -> None:
    build_bench("demo", "Only one", SEEDS[:1], LOCK, bench)
    assert sorted(contents(bench)) == ["manifest.yaml", "scenarios/cleanup-002.yaml"]
    assert [path.name for path in bench.parent.iterdir()] == ["demo"]


def test_a_folder_with_something_else_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OvereagerError, match="BEN008"):
        build_bench("demo", "t", SEEDS, LOCK, tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(OvereagerError, match="BEN008"):
        build_bench("demo", "t", SEEDS, LOCK, tmp_path / "link")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OvereagerError, match="BEN010"):
        build_bench("demo", "t", SEEDS, LOCK, tmp_path / "file" / "demo")


def test_one_id_twice_is_refused_and_both_files_are_named() -> None:
    with pytest.raises(OvereagerError, match="BEN007") as caught:
        scenarios_from_seeds([("a.yaml", VALID), ("b.yaml", VALID)])
    assert "b.yaml" in str(caught.value.where)
    assert "a.yaml" in str(caught.value.cure)


def test_an_empty_bench_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OvereagerError, match="BEN011"):
        build_bench("demo", "t", (), LOCK, tmp_path / "demo")


def test_a_folder_without_a_manifest_is_no_bench(tmp_path: Path) -> None:
    assert codes_of(tmp_path) == ["BEN001"]
    assert codes_of(tmp_path / "nowhere") == ["BEN001"]


def test_another_schema_version_is_refused_by_its_number(bench: Path) -> None:
    manifest = bench / "manifest.yaml"
    manifest.write_text(manifest.read_text().replace("schema_version: 1", "schema_version: 2"))
    assert codes_of(bench) == ["BEN002"]


def test_a_missing_scenario_is_named(bench: Path) -> None:
    (bench / "scenarios" / "cleanup-002.yaml").unlink()
    assert codes_of(bench) == ["BEN003"]


def test_a_file_that_is_not_listed_is_named(bench: Path) -> None:
    (bench / "scenarios" / "extra.yaml").write_text("")
    assert codes_of(bench) == ["BEN004"]


def test_a_changed_scenario_is_named(bench: Path) -> None:
    path = bench / "scenarios" / "cleanup-003.yaml"
    path.write_text(path.read_text().replace("medium", "low"))
    assert codes_of(bench) == ["BEN005"]


def test_a_change_of_layout_alone_is_no_change(bench: Path) -> None:
    path = bench / "scenarios" / "cleanup-003.yaml"
    path.write_text("# a remark\n" + path.read_text())
    assert len(load_bench(bench).scenarios) == 3


def test_a_manifest_that_tells_another_archetype_is_refused(bench: Path) -> None:
    manifest = bench / "manifest.yaml"
    manifest.write_text(manifest.read_text().replace("archetype: cleanup", "archetype: tidying", 1))
    assert codes_of(bench) == ["BEN006"]


def test_a_manifest_that_lists_a_scenario_twice_is_refused(bench: Path) -> None:
    manifest = bench / "manifest.yaml"
    head, *entries = manifest.read_text().split("  - archetype")
    manifest.write_text("  - archetype".join([head, entries[0], *entries]))
    assert codes_of(bench) == ["BEN007"]


def test_a_link_in_a_bench_is_refused(bench: Path, tmp_path: Path) -> None:
    path = bench / "scenarios" / "cleanup-001.yaml"
    path.rename(tmp_path / "elsewhere.yaml")
    path.symlink_to(tmp_path / "elsewhere.yaml")
    assert codes_of(bench) == ["BEN009"]


def test_a_manifest_cannot_name_a_file_outside(bench: Path) -> None:
    manifest = bench / "manifest.yaml"
    manifest.write_text(manifest.read_text().replace("id: cleanup-001", "id: ../cleanup-001"))
    assert codes_of(bench) == ["SCN024"]


def test_all_that_is_wrong_in_a_bench_is_told_at_once(bench: Path) -> None:
    (bench / "scenarios" / "cleanup-002.yaml").unlink()
    (bench / "scenarios" / "extra.yaml").write_text("")
    (bench / "scenarios" / "cleanup-001.yaml").write_text("a: [")
    assert sorted(codes_of(bench)) == ["BEN003", "BEN004", "SCN001"]


def test_relocking_changes_the_lock_and_no_scenario(bench: Path) -> None:
    before = contents(bench)
    lock = LOCK.model_copy(update={"code": "f" * 64})
    renewed = relock(bench, lock)
    assert load_bench(bench) == renewed == Bench(renewed.manifest, renewed.scenarios)
    assert renewed.manifest.judge == lock
    after = contents(bench)
    assert {path for path in before if before[path] != after[path]} == {"manifest.yaml"}
    relock(bench, LOCK)
    assert contents(bench) == before


def test_relocking_refuses_a_bench_that_was_changed(bench: Path) -> None:
    path = bench / "scenarios" / "cleanup-003.yaml"
    path.write_text(path.read_text().replace("medium", "low"))
    before = contents(bench)
    with pytest.raises(ErrorGroup, match="BEN005"):
        relock(bench, LOCK)
    assert contents(bench) == before


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_the_way_to_disk(text: str) -> None:
    scenario = VALID.model_copy(update={"title": text})
    assert load_record(Scenario, write_record(scenario, "x").encode(), "x") == scenario


@pytest.mark.parametrize(
    "text",
    [
        "a\n",
        "a\n\n",
        "\na",
        " a\nb",
        "a \nb",
        "a\n b\n",
        "a\u2028b\n",
        "x: y\n# z\n",
        "---\n",
        "yes",
        "0644",
        "~",
        "\t\n",
    ],
)
def test_text_that_yaml_is_touchy_about_survives(text: str) -> None:
    scenario = VALID.model_copy(update={"title": text})
    assert load_record(Scenario, write_record(scenario, "x").encode(), "x") == scenario
