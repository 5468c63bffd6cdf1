"""The pytest front: each check is a test with its code as id, and each outcome is what pytest calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from overeager.conformance.project import read_project, shown
from overeager.conformance.subjects import checks_of
from overeager.testing import conformance_tests
from test_check_plugin import write_project


def run_tests(project: Path, *, installed: bool = True) -> dict[str, str]:
    """Outcome by test id, and what pytest printed by the empty one."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    report = project / "report.xml"
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}", "tests"]
    with shown(read_project(project)) as folders:
        if installed:
            environment["PYTHONPATH"] = os.pathsep.join(map(str, folders))
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    found = {str(case.get("name")): _outcome(case) for case in ElementTree.parse(report).iter("testcase")}
    return {name[len("test_conformance[") : -1]: outcome for name, outcome in found.items()} | {"": done.stdout}


def _outcome(case: ElementTree.Element) -> str:
    for child in case:
        return str(child.get("type", child.tag)) if child.tag == "skipped" else child.tag
    return "passed"


def test_each_check_is_a_test_with_its_code_as_id(tmp_path: Path) -> None:
    outcomes = run_tests(write_project(tmp_path))
    codes = [one.code for one in checks_of("atoms")]
    assert [code for code in outcomes if code] == [*codes, "known-gaps"]
    assert outcomes["atom-docstring"] == "passed"
    assert outcomes["atom-cases"] == "failure"
    assert outcomes["atom-monotone"] == "pytest.skip"
    assert "there is no atom_cases.yaml in overeager_atoms_mine" in outcomes[""]


def test_a_known_gap_is_an_expected_failure_and_a_wrong_one_a_failure(tmp_path: Path) -> None:
    outcomes = run_tests(write_project(tmp_path, gaps='"atom-cases": "next week", "atom-case": "a slip"'))
    assert outcomes["atom-cases"] == "pytest.xfail"
    assert outcomes["known-gaps"] == "failure"
    assert "did you mean 'atom-cases'?" in outcomes[""]


def test_a_plugin_that_is_not_installed_fails_with_the_cure(tmp_path: Path) -> None:
    outcomes = run_tests(write_project(tmp_path), installed=False)
    assert {status for code, status in outcomes.items() if code} == {"failure"}
    assert "PLG002 no installed plugin is named 'atoms:mine'" in outcomes[""]


def test_a_kind_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"there is no kind 'agent'; did you mean 'agents'\?"):
        conformance_tests("agent", "mine")


def test_the_module_is_imported_without_pytest() -> None:
    code = "import sys, overeager.testing; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
