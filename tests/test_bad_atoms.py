"""Atoms of a stranger that raise, leave, sleep or return what they must not: each is named, and none is a verdict."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bad_kit import SCENARIO, files_below, install_distribution, refusal
from overeager import Pointer, Witness, atom
from overeager.errors import OvereagerError
from overeager.judge.evaluate import Ground, evaluate
from overeager.model.condition import Condition
from run_kit import demo_scenario, overeager, write_bench

pytestmark = pytest.mark.sandbox

PLUGIN = '''
import os
import sys
import time

from overeager import Pointer, Witness, atom, hookimpl

api = 1
SHOWN = Pointer(member="fs/diff.jsonl", line=1)


@atom("odd.does", category="files changed", shown_by=("fs",))
def does(evidence) -> list[Witness]:
    """Misbehaves as it is told."""
    match how := os.environ["ODD"]:
        case "raises":
            raise ValueError("\\x1b[31mred")
        case "leaves":
            sys.exit(0)
        case "sleeps":
            time.sleep(1000)
        case "sleeps through":
            while True:
                try:
                    time.sleep(1000)
                except TimeoutError:
                    return None
        case "points nowhere":
            return [Witness((Pointer(member="gone", line=7), Pointer(member="fs/diff.jsonl", line=10**9)))]
    return None


@hookimpl
def overeager_atoms():
    return [does.overeager_atom]
'''
FAULTS = {
    "raises": r"ValueError: \x1b[31mred",
    "leaves": "SystemExit",
    "none": "it returned NoneType, no list of witnesses",
}
MISFITS = {
    "true": (True, "it returned bool"),
    "words": (["seen"], "it returned str, no witness"),
    "generator": ((one for one in ()), "it returned generator"),
    "no pointer": ([Witness(())], "is certain and points at nothing"),
    "negative line": ([Witness((Pointer(member="fs/diff.jsonl", line=-3),))], "points at no line"),
    "pointer of words": ([Witness(("fs/diff.jsonl:1",))], "points at no line"),  # type: ignore[arg-type]  # on purpose
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment that finds the odd atom, as pip would have left it."""
    site = tmp_path_factory.mktemp("site")
    (site / "odd_atoms.py").write_text(PLUGIN)
    install_distribution(site, "overeager-atoms-odd", "atoms", "odd = odd_atoms")
    return with_site(site)


def with_site(site: Path) -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="module")
def run(installed: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One trial, not judged; its bench asks the odd atom about a trap."""
    model = demo_scenario(SCENARIO)
    trap = model.traps[0].model_copy(update={"when": Condition.model_validate({"odd.does": {}})})
    folder = tmp_path_factory.mktemp("odd")
    bench = write_bench(folder / "bench", [model.model_copy(update={"traps": (trap, *model.traps[1:])})])
    options = ("--upstream", "persona:cautious", "--variant", "kept", "--out", folder / "run")
    assert overeager("bench", "relock", bench, environment=installed).returncode == 0
    assert overeager("run", bench, *options, environment=installed).returncode == 0
    return folder / "run"


@pytest.mark.parametrize("how", FAULTS)
def test_an_atom_that_misbehaves_stops_the_judge_with_its_name(how: str, run: Path, installed: dict[str, str]) -> None:
    said = refusal("judge", run, environment={**installed, "ODD": how}, code="JDG002")
    assert "atom 'odd.does' broke" in said
    assert FAULTS[how] in said
    assert f"(on the bundle of '{SCENARIO}~consent_kept~cautious~r1')" in said
    assert "in odd_atoms" in said
    assert files_below(run / "verdicts") == {}


class _Nothing:
    """Evidence that nobody looks at."""

    def narrowed(self, *_: object) -> _Nothing:
        return self


@pytest.mark.parametrize("how", MISFITS)
def test_what_is_no_list_of_witnesses_is_no_answer(how: str) -> None:
    returned, said = MISFITS[how]

    @atom("odd.does", category="files changed", shown_by=("fs",))
    def does(evidence: object) -> object:
        """Returns what it must not."""
        return returned

    declared = does.overeager_atom  # type: ignore[attr-defined]  # where the decorator leaves it
    condition = Condition.model_validate({"odd.does": {}})
    with pytest.raises(OvereagerError, match=f"JDG002.*{said}"):
        evaluate(condition, Ground(_Nothing(), {}, {"odd.does": declared}))  # type: ignore[arg-type]  # nobody looks


@pytest.mark.parametrize("how", ["sleeps", "sleeps through"])
def test_an_atom_that_never_ends_is_given_up_and_named(how: str, run: Path, installed: dict[str, str]) -> None:
    said = refusal("judge", run, "--patience", "1", environment={**installed, "ODD": how}, code="JDG002")
    assert "atom 'odd.does' broke" in said
    assert "it did not end within 1 seconds" in said or "NoneType" in said


def test_evidence_that_the_bundle_has_not_is_shown_as_such(
    run: Path, installed: dict[str, str], tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "run"))
    environment = {**installed, "ODD": "points nowhere"}
    for command in (("show", copy, "kept", "--explain"), ("judge", copy, "--explain", "kept")):
        done = overeager(*command, environment=environment)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("(the bundle has no such line)") == 2


def test_a_bench_whose_atom_is_not_installed_is_not_judged(run: Path) -> None:
    said = refusal("judge", run, code="SCN110")
    assert "atom 'odd.does', which no installed plugin offers" in said
    assert f"{run / 'bench' / 'scenarios' / SCENARIO}.yaml:" in said
