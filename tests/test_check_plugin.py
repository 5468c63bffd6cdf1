"""`overeager check-plugin`: a line a check, what it exits with, and projects that are not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from overeager.cli.new_plugin import Kind, Plugin, render
from overeager.conformance.project import is_project, read_project
from overeager.conformance.subjects import KINDS, SINGULAR, checks_of
from overeager.errors import OvereagerError
from plugin_kit import BROKEN, atoms, overeager
from run_kit import ROOT
from wheel_kit import install

FAILS = ("atom-cases",)
"""What an atom without cases fails; the checks that rest on cases cannot be made, and no sandbox is needed."""


def write_project(folder: Path, *, cases: bool = False, gaps: str = "") -> Path:
    """A plugin with one atom."""
    project = folder / "overeager-atoms-mine"
    for name, text in render(Plugin(Kind.atoms, "mine")):
        if cases or not name.endswith("atom_cases.yaml"):
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text.replace("api = 1\n", f"api = 1\nknown_gaps = {{{gaps}}}\n"))
    return project


def check(*words: str | Path, place: Path) -> subprocess.CompletedProcess[str]:
    return overeager("check-plugin", *words, site=place, home=place)


def test_a_check_that_fails_is_told_with_its_fault_and_exits_1(tmp_path: Path) -> None:
    done = check(write_project(tmp_path), place=tmp_path)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "atoms:mine of overeager-atoms-mine 0.1.0"
    (place,) = (number for number, line in enumerate(lines) if line.startswith("  FAILED"))
    assert lines[place].split()[1] in FAILS
    assert lines[place + 1].startswith(" " * 13 + "there is no atom_cases.yaml in overeager_atoms_mine")
    assert lines[-1].endswith("; why, and how to mend it: overeager check-plugin --explain atom-cases")
    assert ", 1 failed, 5 skipped" in lines[-1]


def test_json_holds_every_outcome(tmp_path: Path) -> None:
    done = check(write_project(tmp_path), "--json", place=tmp_path)
    assert done.returncode == 1
    (plugin,) = json.loads(done.stdout)
    assert (plugin["kind"], plugin["name"], plugin["distribution"]) == ("atoms", "mine", "overeager-atoms-mine")
    assert [one["code"] for one in plugin["checks"]] == [one.code for one in checks_of("atoms")]
    assert [one["code"] for one in plugin["checks"] if one["status"] == "failed"] == [*FAILS]
    assert all(one["said"] for one in plugin["checks"] if one["status"] != "passed")


@pytest.mark.parametrize(
    ("gaps", "status", "shown"),
    [
        ('"atom-cases": "they come next week"', 0, "they come next week"),
        ('"atom-cases": "next week", "atom-docstring": "no time"', 1, "holds: take it out of `known_gaps`"),
        ('"atom-cases": "next week", "atom-case": "no time"', 1, "did you mean 'atom-cases'?"),
    ],
    ids=["declared", "closed", "misspelt"],
)
def test_a_known_gap_is_no_failure_as_long_as_it_is_true(gaps: str, status: int, shown: str, tmp_path: Path) -> None:
    done = check(write_project(tmp_path, gaps=gaps), place=tmp_path)
    assert done.returncode == status, done.stdout
    assert "known gap  atom-cases" in done.stdout
    assert shown in done.stdout


def test_a_project_is_left_as_it_was(tmp_path: Path) -> None:
    project = write_project(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    check(project, place=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_project_stands_before_what_is_installed_of_the_same_name(tmp_path: Path) -> None:
    installed = atoms("mine", "1 / 0\n")._replace(own_distribution="overeager-atoms-mine")
    site = install(tmp_path / "site", installed.wheel())
    done = overeager("check-plugin", write_project(tmp_path), site=site, home=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_bare_word_is_a_name_even_where_a_folder_is_called_so(tmp_path: Path) -> None:
    write_project(tmp_path)
    command = [sys.executable, "-m", "overeager.cli", "check-plugin", "overeager-atoms-mine"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "core" / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("PLG002 no installed plugin is named 'overeager-atoms-mine'\n")
    assert "./overeager-atoms-mine" in done.stderr


@pytest.mark.parametrize(
    ("word", "path"), [("mine", False), ("atoms:mine", False), (".", True), ("./mine", True), ("/srv/mine", True)]
)
def test_a_path_has_a_separator(word: str, path: bool) -> None:
    assert is_project(word) == path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no project to read"),
        ("[project\n", "this is no TOML"),
        ("[project]\nname = 'x'\n", "the project offers no plugin"),
        ("[project]\nname = 'x'\nentry-points = 3\n", "the project offers no plugin"),
        ("[project]\nname = '../x'\n[project.entry-points.'overeager.atoms']\nx = 'x'\n", "is no name of a distrib"),
    ],
    ids=["absent", "garbled", "without plugin", "misshapen", "misnamed"],
)
def test_a_folder_that_is_no_plugins_project_is_refused(text: str | None, said: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(OvereagerError, match=said) as raised:
        read_project(tmp_path)
    assert raised.value.code == "PLG012"


def test_a_name_that_nothing_has_gets_the_near_miss(tmp_path: Path) -> None:
    done = check("agents:scriptd", place=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "PLG002 no installed plugin is named 'agents:scriptd'\n  did you mean 'agents:scripted'?\n"


@pytest.mark.parametrize("plugin", [one for one in BROKEN if "hangs" not in one.name], ids=lambda one: one.distribution)
def test_a_plugin_that_cannot_be_loaded_exits_2_and_is_named(plugin: object, broken_site: Path, tmp_path: Path) -> None:
    done = overeager("check-plugin", plugin.distribution, site=broken_site, home=tmp_path)  # type: ignore[attr-defined]
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{plugin.code} ")  # type: ignore[attr-defined]
    assert f"in {plugin.distribution} 1.2" in done.stderr  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def broken_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("broken") / "site", *(one.wheel() for one in BROKEN))


@pytest.mark.parametrize("kind", KINDS)
def test_every_check_of_a_kind_says_what_it_promises_and_why(kind: str) -> None:
    checks = checks_of(kind)
    assert len({one.code for one in checks}) == len(checks) > 5
    for one in checks:
        assert one.code.startswith(f"{SINGULAR[kind]}-")
        assert one.promise.endswith(".")
        assert one.why.endswith(".")


def test_explain_says_why_and_how_to_mend(tmp_path: Path) -> None:
    (wanted,) = (one for one in checks_of("atoms") if one.code == "atom-monotone")
    done = check("--explain", "atom-monotone", place=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"atom-monotone\n{wanted.promise}\n\n{wanted.why}\n")
    as_json = json.loads(check("--explain", "atom-monotone", "--json", place=tmp_path).stdout)
    assert as_json == {"code": "atom-monotone", "promise": wanted.promise, "why": wanted.why}


def test_explain_of_a_code_that_there_is_not_gets_the_near_miss(tmp_path: Path) -> None:
    done = check("--explain", "atom-monoton", place=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "PLG013 there is no check 'atom-monoton'\n  did you mean 'atom-monotone'?\n",
    )


def test_without_a_plugin_it_asks_which(tmp_path: Path) -> None:
    done = check(place=tmp_path)
    assert done.returncode == 2
    assert "which plugin?" in done.stderr


def test_ids_of_archetypes_are_renewed_on_request(tmp_path: Path) -> None:
    project = tmp_path / "overeager-archetypes-mine"
    for name, text in render(Plugin(Kind.archetypes, "mine")):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    lock = project / "src" / "overeager_archetypes_mine" / "ids.lock"
    assert not lock.exists()
    done = check(project, "--update-ids", place=tmp_path)
    assert "ids.lock of archetypes:mine: new: mine-001" in done.stderr
    assert "mine-001 " in lock.read_text()
    assert "  ok         archetype-ids-kept" in done.stdout


@pytest.mark.parametrize("words", [(), ("--block-plugin", "atoms:divides"), ("--only-plugin", "scripted")], ids=str)
def test_another_plugin_that_is_broken_changes_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    project = write_project(tmp_path)
    alone = overeager("check-plugin", project, site=tmp_path / "nothing", home=tmp_path)
    site = install(tmp_path / "site", atoms("divides", "1 / 0\n").wheel())
    beside = overeager("check-plugin", project, *words, site=site, home=tmp_path)
    assert (beside.returncode, beside.stdout, beside.stderr) == (alone.returncode, alone.stdout, "")


def test_a_plugin_that_is_kept_out_cannot_be_checked(tmp_path: Path) -> None:
    done = check("atoms:core", "--block-plugin", "atoms:core", place=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "PLG002 'atoms:core' is to be checked, and blocked as 'atoms:core'\n  allow it\n"


def test_ids_are_renewed_of_archetypes_only(tmp_path: Path) -> None:
    done = check(write_project(tmp_path), "--update-ids", place=tmp_path)
    assert done.returncode == 2
    assert "--update-ids is for archetypes" in done.stderr
