"""The registry and the locks: independent of entry-point order and of the way of installation."""

from __future__ import annotations

import random
import sys
import zipfile
from pathlib import Path

import pytest
from importlib_metadata import EntryPoint

from overeager.loading.content import hash_module, hash_parts
from overeager.loading.discover import Found, scan, sort_found
from overeager.loading.locks import difference, judge_lock
from overeager.loading.registry import load_registry
from overeager.loading.rows import plugin_rows
from overeager.model.lock import JudgeLock
from overeager.model.scenario import Scenario
from overeager.model.yaml_source import load_record

ROOT = Path(__file__).parent.parent
SCENARIO = (Path(__file__).parent / "bad_input" / "valid-scenario.yaml").read_text()
BACKWARDS = """
from overeager import AtomDeclaration, hookimpl

api = 1

@hookimpl
def overeager_atoms():
    return [AtomDeclaration(f"test.{letter}", print, "files read", ("fs",), ("fs",)) for letter in "ba"]
"""


@pytest.fixture
def scenario() -> Scenario:
    return load_record(Scenario, SCENARIO, "valid-scenario.yaml")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An importable package `parcel` with a module, data and compiled left-overs."""
    folder = tmp_path / "parcel"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "module.py").write_text("VALUE = 1\n")
    (folder / "data.txt").write_text("one\n")
    (folder / "__pycache__" / "module.cpython-311.pyc").write_bytes(b"\0")
    (folder / "__pycache__" / "module.cpython-311.pyc.140").write_bytes(b"\0")  # as an interrupted import leaves it
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return folder


def import_parcel() -> str:
    for name in [name for name in sys.modules if name.partition(".")[0] == "parcel"]:
        del sys.modules[name]
    __import__("parcel.module")
    return hash_module("parcel.module")


def shuffled(found: tuple[Found, ...], seed: int) -> list[Found]:
    return random.Random(seed).sample(found, len(found))


@pytest.mark.parametrize("seed", range(5))
def test_the_registry_does_not_depend_on_the_order_of_entry_points(seed: int) -> None:
    expected = load_registry()
    found = load_registry(found=shuffled(scan(), seed))
    for group, other in zip(expected[:-1], found[:-1], strict=True):  # the last is what was chosen
        assert list(group) == sorted(group) == list(other)
        assert [origin for _, origin in group.values()] == [origin for _, origin in other.values()]


def test_ids_stand_in_order_whatever_the_order_in_the_plugin(package: Path) -> None:
    (package / "atoms.py").write_text(BACKWARDS)
    point = EntryPoint("backwards", "parcel.atoms", "overeager.atoms")
    found = Found("overeager.atoms", "backwards", "parcel.atoms", "parcel", "1", point)
    assert list(load_registry(found=[found]).atoms) == ["test.a", "test.b"]


def test_plugin_rows_do_not_depend_on_the_order_of_entry_points() -> None:
    assert plugin_rows(True, found=shuffled(scan(), 1)) == plugin_rows(True)


def test_only_the_named_agents_are_imported() -> None:
    assert list(load_registry(["overeager.agents"], agents=["scripted"]).agents) == ["scripted"]


def test_the_installed_plugins_have_no_fault() -> None:
    assert [row for row in plugin_rows(True) if row.status != "ok"] == []


def test_duplicates_that_are_not_adjacent_are_seen() -> None:
    first = next(one for one in scan() if one.group == "overeager.atoms")
    found = [first, first._replace(name="between"), first._replace(distribution="overeager-other")]
    statuses = {row.distribution: row.status for row in plugin_rows(False, found=found) if row.name == first.name}
    assert statuses == {"overeager": "duplicate", "overeager-other": "duplicate"}
    assert sort_found(found) == sort_found(reversed(found))


def test_the_content_hash_of_a_module_covers_its_package(package: Path) -> None:
    before = import_parcel()
    (package / "data.txt").write_text("two\n")
    assert import_parcel() != before


def test_the_content_hash_leaves_compiled_files_out(package: Path) -> None:
    before = import_parcel()
    (package / "__pycache__" / "module.cpython-311.pyc.140").write_bytes(b"\1")
    (package / "left.pyc").write_bytes(b"\1")
    assert import_parcel() == before


def test_the_content_hash_tells_a_renamed_file(package: Path) -> None:
    before = import_parcel()
    (package / "data.txt").rename(package / "text.txt")
    assert import_parcel() != before


def test_the_content_hash_of_a_package_in_a_zip_is_the_same(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked = import_parcel()
    archive = package.parent.parent / f"{package.parent.name}.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted(package.glob("*.*")):
            packed.write(path, f"parcel/{path.name}")
    monkeypatch.syspath_prepend(str(archive))
    assert import_parcel() == unpacked
    assert str(archive) in str(sys.modules["parcel"].__file__)


def test_hash_parts_changes_with_a_file_and_not_with_its_neighbour(package: Path) -> None:
    import_parcel()
    before = hash_parts("parcel", ("module.py",))
    (package / "data.txt").write_text("three\n")
    assert hash_parts("parcel", ("module.py",)) == before
    (package / "module.py").write_text("VALUE = 2\n")
    assert hash_parts("parcel", ("module.py",)) != before


def test_the_judge_lock_holds_only_atoms_that_a_condition_names(scenario: Scenario) -> None:
    registry = load_registry()
    assert list(judge_lock(registry, [scenario]).atoms) == ["core"]
    assert judge_lock(registry, []).atoms == {}


def test_the_judge_lock_does_not_depend_on_the_order_of_scenarios(scenario: Scenario) -> None:
    registry, other = load_registry(), scenario.model_copy(update={"id": "cleanup-002"})
    assert judge_lock(registry, [scenario, other]) == judge_lock(registry, [other, scenario])


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("delete: [scratch.tmp]\n", "delete: [scratch.*]\n", True),
        ("severity: medium", "severity: high", True),
        ("fs.deleted: {path: scratch.tmp}", "fs.deleted: {path: other.tmp}", True),
        ("tidy up please", "tidy up", False),
        ("content: x", "content: y", False),
    ],
)
def test_conditions_are_what_decides_a_verdict_and_no_more(old: str, new: str, changed: bool) -> None:
    registry = load_registry()
    locks = [
        judge_lock(registry, [load_record(Scenario, text, "s")]) for text in (SCENARIO, SCENARIO.replace(old, new))
    ]
    assert SCENARIO.replace(old, new) != SCENARIO
    assert (locks[0].conditions != locks[1].conditions) is changed


def lock(**parts: object) -> JudgeLock:
    plain = {"code": "0" * 64, "atoms": {}, "shims": {}, "agents": {}, "conditions": "0" * 64}
    return JudgeLock.model_validate(plain | parts)


def test_a_difference_of_locks_is_told_in_words() -> None:
    expected = lock(atoms={"core": "a" * 64}, shims={"core": "a" * 64}, agents={"codex": "a" * 64})
    installed = lock(code="1" * 64, atoms={"core": "b" * 64}, shims={"core": "a" * 64, "more": "a" * 64})
    said = difference(expected, installed)
    assert [line.partition(" has")[0].partition(" is")[0] for line in said] == [
        "the judge's own code (overeager: actions, agentkit, canonical.py, contract, judge, model)",
        "the plugin 'core' (atoms)",
        "the plugin 'more' (shims)",
        "the plugin 'codex' (agents)",
    ]


def test_equal_locks_have_no_difference(scenario: Scenario) -> None:
    registry = load_registry()
    assert difference(judge_lock(registry, [scenario]), judge_lock(registry, [scenario])) == ()


def test_adapters_that_did_not_take_part_make_no_difference() -> None:
    assert difference(lock(agents={"codex": "a" * 64}), lock(agents={"gemini": "a" * 64}), agents=["scripted"]) == ()
