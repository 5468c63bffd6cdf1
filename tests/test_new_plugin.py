"""`overeager new-plugin`: what it writes works as it stands, and it overwrites nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from overeager.cli.new_plugin import Kind, Plugin, read_name, render
from overeager.conformance.project import read_project, shown
from overeager.conformance.scenario_text import TELLING_WORDS
from overeager.errors import OvereagerError
from plugin_kit import overeager
from run_kit import ROOT

LIVE = "agent-live"
"""Checks that take longest, most of it waiting for a time limit; the page docs/extending/agents.md runs them."""


def write(kind: str, name: str, folder: Path) -> Path:
    """The new project's folder."""
    done = overeager("new-plugin", kind, name, "--directory", folder, site=folder, home=folder)
    assert done.returncode == 0, done.stderr
    return folder / f"overeager-{kind}-{name}"


def run_in(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A Python module in a process to which the project is installed."""
    with shown(read_project(project)) as folders:
        path = os.pathsep.join(map(str, folders))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-W", "error", "-m", *words]
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.sandbox
@pytest.mark.parametrize("kind", [*Kind])
def test_a_new_plugin_passes_its_own_tests_as_it_stands(kind: str, tmp_path: Path) -> None:
    project = write(kind, "two-words", tmp_path)
    done = run_in(project, "pytest", "-q", "-p", "no:cacheprovider", "-k", f"not {LIVE}", ".")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\d+ passed", done.stdout, re.M), done.stdout


@pytest.mark.parametrize("kind", [*Kind])
def test_a_new_plugin_keeps_to_the_style_of_the_house(kind: str, tmp_path: Path) -> None:
    project = write(kind, "mine", tmp_path)
    settings = ("--config", str(ROOT / "pyproject.toml"))
    for words in (("ruff", "check", *settings, "."), ("ruff", "format", "--check", *settings, ".")):
        done = run_in(project, *words)
        assert done.returncode == 0, done.stdout
    if kind != "archetypes":
        own_program = ("--exclude", r"agent\.py$")
        done = run_in(project, "mypy", "--strict", "--config-file", settings[1], *own_program, "src")
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("kind", [*Kind])
def test_a_new_plugins_words_are_those_of_its_group(kind: Kind) -> None:
    texts = dict(render(Plugin(kind, "mine")))
    about = tomllib.loads(texts["pyproject.toml"])["project"]
    assert about["name"] == f"overeager-{kind}-mine"
    assert about["dependencies"] == ["overeager>=0.1,<0.2"]
    ((group, points),) = about["entry-points"].items()
    assert group.removeprefix("overeager.") in (str(kind), f"{kind}s", "axes")
    assert points["mine"].split(":")[0].split(".")[0] == f"overeager_{kind}_mine"
    assert "«" not in "".join(texts) + "".join(texts.values())


@pytest.mark.parametrize(
    ("given", "name"), [("mine", "mine"), ("overeager-agent-mine", "mine"), ("a1-b2", "a1-b2"), ("x" * 40, "x" * 40)]
)
def test_a_name_may_bear_the_distributions_prefix(given: str, name: str) -> None:
    assert read_name(Kind.agent, given).name == name


@pytest.mark.parametrize(
    ("given", "said", "cure"),
    [
        ("My Agent", "is no name", "for example 'my-agent'"),
        ("", "is no name", "for example 'mine'"),
        ("../up", "is no name", "for example 'up'"),
        ("1st", "is no name", "for example 'mine'"),
        ("a--b", "is no name", "for example 'a-b'"),
        ("x" * 41, "is no name", f"for example '{'x' * 40}'"),
        ("trial-runner", "holds the word 'trial'", "choose a name that says what the agent is"),
    ],
)
def test_a_name_that_cannot_be_is_refused(given: str, said: str, cure: str) -> None:
    with pytest.raises(OvereagerError, match=said) as raised:
        read_name(Kind.agent, given)
    assert (raised.value.code, raised.value.cure) == ("PLG014", cure)


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "overeager-atoms-mine").mkdir()
    done = overeager("new-plugin", "atoms", "mine", "--directory", tmp_path, site=tmp_path, home=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("PLG015 this is there already\n")
    assert not any((tmp_path / "overeager-atoms-mine").iterdir())


def test_a_name_that_an_installed_plugin_has_is_refused(tmp_path: Path) -> None:
    done = overeager("new-plugin", "agent", "scripted", "--directory", tmp_path, site=tmp_path, home=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("PLG005 the name 'scripted' is taken: agents:scripted is brought by overeager ")


def test_a_folder_that_cannot_be_written_is_an_error_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = overeager("new-plugin", "axis", "mine", "--directory", tmp_path / "file", site=tmp_path, home=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("PLG015 it cannot be written: ")


def test_it_says_what_to_do_next(tmp_path: Path) -> None:
    done = overeager("new-plugin", "shims", "mine", "--directory", tmp_path, site=tmp_path, home=tmp_path)
    folder = tmp_path / "overeager-shims-mine"
    assert f"  pip install -e {folder}\n" in done.stderr
    assert "check-plugin shims:mine\n" in done.stderr
    assert f"  pytest {folder}\n" in done.stderr


def test_what_an_agent_sees_of_itself_speaks_of_no_measurement() -> None:
    texts = dict(render(Plugin(Kind.agent, "mine")))
    program = texts["src/overeager_agent_mine/agent.py"].lower()
    assert [word for word in TELLING_WORDS if word in program] == []
