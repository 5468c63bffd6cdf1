"""Archetype packages on disk: what is read, and what is refused with place and cure."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from overeager.contract.evidence import AtomDeclaration, Evidence, Witness, atom
from overeager.errors import ErrorGroup, OvereagerError, Place
from overeager.store.archetypes import package_folder, read_archetypes

pytestmark = pytest.mark.pure

BAD_INPUT = Path(__file__).parent / "bad_input"
BAD_SEEDS = sorted((BAD_INPUT / "seeds").glob("SCN1*.yaml"))
VALID_SEED = (BAD_INPUT / "valid-scenario.yaml").read_text()
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


def declare_atoms() -> Mapping[str, AtomDeclaration]:
    """Atoms of this test's own: the built-in ones are no business of the reader."""

    @atom("fs.deleted", category="files changed", shown_by=("fs",))
    def deleted(evidence: Evidence, *, path: str) -> list[Witness]:
        return []

    @atom("fs.exists", category="files changed", shown_by=("fs",))
    def exists(evidence: Evidence, *, path: str) -> list[Witness]:
        return []

    @atom("fs.contains", category="files changed", shown_by=("fs",))
    def contains(evidence: Evidence, *, path: str, pattern: str, times: int = 1) -> list[Witness]:
        return []

    declared = [getattr(function, "overeager_atom") for function in (deleted, exists, contains)]  # noqa: B009  # typed
    return {declaration.name: declaration for declaration in declared}


ATOMS = declare_atoms()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    seeds = tmp_path / "some_archetypes" / "cleanup" / "seeds"
    seeds.mkdir(parents=True)
    (seeds.parent / "archetype.yaml").write_text(ARCHETYPE)
    (seeds / "cleanup-001.yaml").write_text(VALID_SEED)
    return tmp_path / "some_archetypes"


def errors_of(*folders: Path) -> tuple[OvereagerError, ...]:
    with pytest.raises(ErrorGroup) as caught:
        read_archetypes(folders, ATOMS)
    return caught.value.errors


def test_a_good_package_gives_its_records_with_their_files(package: Path) -> None:
    shelf = read_archetypes([package], ATOMS)
    assert [(source, seed.id) for source, seed in shelf.seeds] == [
        ("some_archetypes/cleanup/seeds/cleanup-001.yaml", "cleanup-001")
    ]
    assert [(source, one.id) for source, one in shelf.archetypes] == [
        ("some_archetypes/cleanup/archetype.yaml", "cleanup")
    ]


def test_seed_scenarios_are_sorted_whatever_the_order_of_packages(package: Path, tmp_path: Path) -> None:
    other = tmp_path / "a_later" / "zeal" / "seeds"
    other.mkdir(parents=True)
    (other.parent / "archetype.yaml").write_text(ARCHETYPE.replace("id: cleanup", "id: zeal"))
    (other / "zeal-001.yaml").write_text(
        VALID_SEED.replace("id: cleanup-001", "id: zeal-001").replace("archetype: cleanup", "archetype: zeal")
    )
    folders = [package, tmp_path / "a_later"]
    assert read_archetypes(folders) == read_archetypes(folders[::-1])
    assert [seed.id for _, seed in read_archetypes(folders).seeds] == ["cleanup-001", "zeal-001"]


def test_caches_and_hidden_folders_are_no_archetypes(package: Path) -> None:
    (package / "__pycache__").mkdir()
    (package / ".cache").mkdir()
    (package / "__init__.py").write_text("")
    assert len(read_archetypes([package]).archetypes) == 1


@pytest.mark.parametrize("path", BAD_SEEDS, ids=lambda path: path.stem)
def test_a_bad_seed_scenario_raises_the_error_of_its_name_at_the_wrong_line(package: Path, path: Path) -> None:
    shutil.copy(path, package / "cleanup" / "seeds" / "cleanup-001.yaml")
    line = next(number for number, text in enumerate(path.read_text().split("\n"), start=1) if "# wrong" in text)
    (error,) = errors_of(package)
    assert error.code == path.stem[:6]
    assert error.where == Place("some_archetypes/cleanup/seeds/cleanup-001.yaml", line)
    assert error.cure


def test_an_unknown_atom_is_refused_with_the_near_miss_and_the_trap(package: Path) -> None:
    shutil.copy(
        BAD_INPUT / "seeds" / "SCN110-unknown-atom-deep-in-a-trap.yaml",
        package / "cleanup" / "seeds" / "cleanup-001.yaml",
    )
    (error,) = errors_of(package)
    assert "trap 'deleted-notes' names atom 'fs.exist'" in error.what
    assert error.cure == "did you mean 'fs.exists'?"


def test_without_atoms_conditions_are_not_looked_at(package: Path) -> None:
    shutil.copy(BAD_INPUT / "seeds" / "SCN110-unknown-atom.yaml", package / "cleanup" / "seeds" / "cleanup-001.yaml")
    assert len(read_archetypes([package]).seeds) == 1


@pytest.mark.parametrize(
    "name", ["cleanup-1.yaml", "cleanup-0001.yaml", "tidying-001.yaml", "cleanup-002.yml", "notes"]
)
def test_a_file_of_another_name_among_the_seed_scenarios_is_refused(package: Path, name: str) -> None:
    (package / "cleanup" / "seeds" / name).write_text(VALID_SEED)
    (error,) = errors_of(package)
    assert (error.code, error.where) == ("SCN102", Place(f"some_archetypes/cleanup/seeds/{name}"))


def test_a_folder_without_a_description_is_refused(package: Path) -> None:
    (package / "cleanup" / "archetype.yaml").unlink()
    assert [error.code for error in errors_of(package)] == ["SCN103"]


def test_a_link_is_refused_wherever_it_leads(package: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text(VALID_SEED)
    (package / "cleanup" / "seeds" / "cleanup-002.yaml").symlink_to(tmp_path / "outside.yaml")
    (package / "linked").symlink_to(package / "cleanup")
    assert [error.code for error in errors_of(package)] == ["SCN106", "SCN106"]


def test_a_folder_in_place_of_a_file_is_named(package: Path) -> None:
    (package / "cleanup" / "seeds" / "cleanup-002.yaml").mkdir()
    assert [error.code for error in errors_of(package)] == ["SCN107"]


def test_one_id_in_two_packages_is_refused_and_both_are_named(package: Path, tmp_path: Path) -> None:
    shutil.copytree(package, tmp_path / "z_copy")
    errors = errors_of(package, tmp_path / "z_copy")
    assert [error.code for error in errors] == ["SCN108", "SCN108"]
    assert str(errors[1].where) == "z_copy/cleanup/seeds/cleanup-001.yaml"
    assert "some_archetypes/cleanup/seeds/cleanup-001.yaml" in str(errors[1].cure)


def test_all_that_is_wrong_in_a_package_is_told_at_once(package: Path) -> None:
    (package / "cleanup" / "archetype.yaml").write_text(ARCHETYPE.replace("tier: high", "tier: highest"))
    (package / "cleanup" / "seeds" / "cleanup-002.yaml").write_text("a: [")
    assert {error.code for error in errors_of(package)} == {"SCN023", "SCN001"}


def test_an_installed_package_is_found_by_its_name() -> None:
    assert (package_folder("overeager") / "errors.py").is_file()
