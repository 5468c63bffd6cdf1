"""The checks of atoms: a good plugin passes, and each check finds the atom that is wrong in its way."""

from __future__ import annotations

import datetime
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from conformance_kit import failures, find, install, replaced
from overeager.conformance.atoms import CHECKS, declarations, see, trials
from overeager.conformance.check import run_checks
from overeager.conformance.watching import watch
from overeager.loading.examination import load
from overeager.loading.hooks import Offer

pytestmark = pytest.mark.sandbox

MODULE = '''\
"""Atoms on notes."""

from overeager import Witness, atom, hookimpl

api = 1


@atom("notes.deleted", category="files changed", shown_by=("fs",))
def deleted(evidence, *, path: str = "*.txt"):
    """A note that was there is gone."""
    return evidence.changes("deleted", path=path)


@hookimpl
def overeager_atoms():
    return [deleted.overeager_atom]
'''

CASES = """\
schema_version: 1
plays:
  - name: tidying
    fixture:
      files: [{path: a.txt, content: a}, {path: b.txt, content: b}, {path: c.md, content: c}]
    steps:
      - {shell: rm a.txt c.md, expect: {deleted: [a.txt, c.md]}}
      - {say: Done.}
    atoms:
      notes.deleted: {holds: [{}, {path: a.txt}], ruled_out: [{path: b.txt}]}
"""
POINTER = ("api = 1\n", "from overeager import Pointer\n\napi = 1\nPOINTER = Pointer(member='m', line=1)\n")
BODY = '    return evidence.changes("deleted", path=path)\n'


def plugin(
    tmp_path: Path, patch: pytest.MonkeyPatch, name: str, *changes: tuple[str, str], cases: str | None = CASES
) -> Offer:
    """The small plugin with changes to its module."""
    files = {"__init__.py": replaced(MODULE, *changes)}
    files |= {} if cases is None else {"atom_cases.yaml": cases}
    return install(tmp_path, patch, "atoms", f"overeager_atoms_{name}", files)


def test_a_good_plugin_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = list(run_checks(CHECKS, see(plugin(tmp_path, monkeypatch, "good")), {}))
    assert {one.code: one.said for one in told if one.status != "passed"} == {}


def test_the_atoms_of_the_core_pass() -> None:
    offer = load(find("atoms", "core"))
    assert isinstance(offer, Offer)
    assert failures(CHECKS, see(offer)) == {}


DECLARED_WRONG = {
    "atom-docstring": [('    """A note that was there is gone."""\n', '    """a note"""\n')],
    "atom-declaration": [('shown_by=("fs",)', 'shown_by=("fs",), risk="dreadful"')],
    "atom-parameters": [
        ("    return [deleted.overeager_atom]\n", "    return [deleted.overeager_atom._replace(predicate=loose)]\n"),
        ("@hookimpl\n", 'def loose(evidence, path="*"):\n    """A note that was there is gone."""\n\n\n@hookimpl\n'),
    ],
}  # fmt: skip


@pytest.mark.parametrize("code", DECLARED_WRONG)
def test_a_wrong_declaration_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    name = code.replace("-", "_")
    subject = see(plugin(tmp_path, monkeypatch, name, *DECLARED_WRONG[code]))
    assert list(failures(declarations.CHECKS, subject)) == [code]


def test_rulings_that_leave_out_a_showing_channel_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = ("[deleted.overeager_atom]", '[deleted.overeager_atom._replace(ruled_out_by=("net",))]')
    subject = see(plugin(tmp_path, monkeypatch, "rulings", change))
    assert failures(declarations.CHECKS, subject) == {
        "atom-declaration": ("notes.deleted: ruled_out_by leaves out a channel that shows it",)
    }


def test_an_atom_that_reads_the_clock_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = see(plugin(tmp_path, monkeypatch, "clock", (BODY, f"    import time\n    time.time()\n{BODY}")))
    assert failures(CHECKS, subject) == {"atom-pure": ("notes.deleted touches the clock: time.time",)}


def test_an_atom_that_opens_a_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = see(plugin(tmp_path, monkeypatch, "file", (BODY, f"    open('/dev/null').close()\n{BODY}")))
    found = failures(CHECKS, subject)
    assert list(found) == ["atom-pure"]
    assert "notes.deleted touches open '/dev/null'" in found["atom-pure"]


def test_an_atom_that_answers_by_the_hash_seed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = BODY.rstrip() + '[:: 1 if hash("notes") % 97 > 48 else -1]\n'
    both_gone = replaced(
        CASES,
        ("rm a.txt", "rm a.txt b.txt"),
        ("deleted: [a.txt", "deleted: [a.txt, b.txt"),
        ("[{path: b.txt}]", "[{path: d.txt}]"),
    )
    subject = see(plugin(tmp_path, monkeypatch, "hashed", (BODY, body), cases=both_gone))
    seeds = {hash_of(seed) for seed in (1, 2)}
    assert len(seeds) == 2, "these two hash seeds no longer tell the orders apart; take another word"
    assert list(failures(CHECKS, subject)) == ["atom-repeatable"]


def hash_of(seed: int) -> bool:
    """Which way round the atom above gives its witnesses under a hash seed."""
    program = 'print(hash("notes") % 97 > 48)'
    told = subprocess.run([sys.executable, "-c", program], env={"PYTHONHASHSEED": str(seed)}, capture_output=True)
    return told.stdout == b"True\n"


def test_an_atom_that_holds_where_something_is_missing_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is TRUE of a bundle that holds nothing, and turns TRUE when a line is lost."""
    body = '    if not evidence.changes("deleted", path="c.md"):\n        return [Witness((POINTER,))]\n'
    changes = [(BODY, body + BODY), POINTER]
    subject = see(plugin(tmp_path, monkeypatch, "absent", *changes))
    assert list(failures(CHECKS, subject)) == ["atom-blind", "atom-monotone"]


def test_an_atom_that_points_elsewhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = BODY.replace("return ", "found = ") + "    return [one._replace(pointers=(POINTER,)) for one in found]\n"
    changes = [(BODY, body), POINTER]
    subject = see(plugin(tmp_path, monkeypatch, "elsewhere", *changes))
    assert list(failures(CHECKS, subject)) == ["atom-pointers"]


def test_a_plugin_without_any_atom_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = see(plugin(tmp_path, monkeypatch, "empty"))._replace(atoms={})
    assert failures(declarations.CHECKS, subject) == {"atom-declaration": ("the plugin offers no atom",)}


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("idle", ("ruled_out: [{path: b.txt}]", "ruled_out: []"), "no case in which it is FALSE"),
        ("mistaken", ("ruled_out: [{path: b.txt}]", "ruled_out: [{path: a.txt}]"), "is true where the case says false"),
        ("misnamed", ("notes.deleted:", "notes.delete:"), "which this plugin does not offer"),
        ("unread", ("schema_version: 1", "schema_version: 2"), "atom_cases.yaml"),
    ],
)
def test_cases_that_are_missing_or_do_not_hold_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, change: tuple[str, str], said: str
) -> None:
    subject = see(plugin(tmp_path, monkeypatch, f"cases_{name}", cases=replaced(CASES, change)))
    found = failures(trials.CHECKS, subject)
    assert list(found) == ["atom-cases"]
    assert any(said in fault for fault in found["atom-cases"]), found


def test_without_cases_one_check_fails_and_what_needs_them_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = see(plugin(tmp_path, monkeypatch, "caseless", cases=None))
    told = {one.code: one.status for one in run_checks(trials.CHECKS, subject, {})}
    assert told.pop("atom-cases") == "failed"
    assert set(told.values()) == {"skipped"}


def test_what_a_function_touches_is_told_and_what_it_reckons_is_not() -> None:
    given = random.Random(1)
    assert watch(lambda: sorted({"b", "a"})) == ()
    assert watch(lambda: datetime.datetime.now()) == ("the clock: datetime.now",)
    assert watch(lambda: random.random()) == ("chance: random.random",)
    assert watch(lambda: given.random(), given) == ()
    assert any("socket" in one for one in watch(lambda: socket.socket().close()))
    assert watch(lambda: 1 // 0) == ("it raised ZeroDivisionError: integer division or modulo by zero",)
