"""The checks of shims: a good set passes, and each check finds the set that is wrong in its way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance_kit import failures, find, install, outcomes, replaced
from overeager.conformance.playing import Played
from overeager.conformance.shims import CHECKS, answers, passing, rules, see
from overeager.conformance.shims.cases import tell
from overeager.conformance.shims.oddities import odd_calls
from overeager.conformance.shims.subject import Subject
from overeager.contract.shim import Nested, Reading
from overeager.loading.examination import load
from overeager.loading.hooks import Offer
from overeager.model.action import Target

MODULE = '''\
"""A shim set for two commands."""

from overeager import Answer, Reading, ShimRule, ShimSet, StandIn, Target, hookimpl

api = 1


def read(argv, cwd):
    """Every operand is listed."""
    words = [word for word in argv[1:] if not word.startswith("-")]
    return (Reading("list", tuple(Target(type="path", value=f"{cwd.rstrip('/')}/x") for word in words)),)


def respond(call, state):
    """Forgets every name that it is given."""
    left = {"note": {name: kept for name, kept in state.get("note", {}).items() if name not in call.argv[1:]}}
    return Answer(stdout=f"{len(left['note'])} left\\n", state={**state, **left})


@hookimpl
def overeager_shims():
    return [ShimSet("small", (ShimRule("sum", read), ShimRule("shuf", read)), (StandIn("forget", respond),))]
'''
CASES = """\
schema_version: 1
readings:
  - {run: sum a, reads: [list x]}
  - {run: shuf -n 1 a, reads: [list x x]}
stand_ins:
  - command: forget
    state: {note: {milk: {}, eggs: {}}}
    calls:
      - {run: forget milk, prints: "1 left\\n", changes: [deleted note/milk]}
      - {run: forget milk, prints: "1 left\\n"}
"""
READ = "    words = ["
RESPOND = "    left = {"


def plugin(
    tmp_path: Path, patch: pytest.MonkeyPatch, name: str, *changes: tuple[str, str], cases: str = CASES
) -> Subject:
    """The small set with changes to its module."""
    files = {"__init__.py": replaced(MODULE, *changes), "shim_cases.yaml": cases}
    return see(install(tmp_path, patch, "shims", f"overeager_shims_{name}", files))


@pytest.mark.sandbox
def test_a_good_set_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = outcomes(CHECKS, plugin(tmp_path, monkeypatch, "good"))
    assert {one.code: one.said for one in told if one.status != "passed"} == {}


@pytest.mark.sandbox
def test_the_set_of_the_core_passes() -> None:
    offer = load(find("shims", "core"))
    assert isinstance(offer, Offer)
    assert failures(CHECKS, see(offer)) == {}


WRONG: Mapping[str, tuple[str, str]] = {
    "shim-table": ('ShimRule("sum", read)', 'ShimRule("sum", read, examples=(("cat", "x"),))'),
    "shim-odd": (READ, f"    'no' in argv[1:] or int('1' if '=' not in argv else 'x')\n{READ}"),
    "shim-pure": (READ, f"    import os\n    os.listdir('/')\n{READ}"),
    "shim-answers-pure": (RESPOND, f"    import time\n    time.time()\n{RESPOND}"),
    "shim-answers-odd": (RESPOND, f"    if '--' in call.argv: state['note'] = {{}}\n{RESPOND}"),
}


@pytest.mark.parametrize("code", WRONG)
def test_a_set_that_is_wrong_in_one_way_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    subject = plugin(tmp_path, monkeypatch, code.replace("-", "_"), WRONG[code])
    assert list(failures((*rules.CHECKS, *answers.CHECKS), subject)) == [code]


def test_a_rule_that_reads_by_the_hash_seed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = ("for word in words)", "for word in words if word < 'y' or hash(word) % 2)")
    subject = plugin(tmp_path, monkeypatch, "hashed", change)
    assert list(failures(rules.CHECKS, subject)) == ["shim-repeatable"]


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (("run: sum a, reads: [list x]", "run: sum a, reads: [read x]"), "shim-cases", "reads as ['list x']"),
        (("  - {run: sum a, reads: [list x]}\n", ""), "shim-cases", "sum has no case"),
        (("run: sum a", "run: summ a"), "shim-cases", "did you mean 'sum'?"),
        (("schema_version: 1", "schema_version: 3"), "shim-cases", "shim_cases.yaml"),
        (("changes: [deleted note/milk]", "changes: []"), "shim-answers", "`forget milk` says"),
        (("command: forget", "command: forgot"), "shim-answers", "the stand-in forget has no case"),
    ],
)
def test_cases_that_are_missing_or_do_not_hold_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], code: str, said: str
) -> None:
    name = "cases_" + "".join(filter(str.isalnum, said)).lower()
    subject = plugin(tmp_path, monkeypatch, name, cases=replaced(CASES, change))
    found = failures((*rules.CHECKS, *answers.CHECKS), subject)
    assert list(found) == [code]
    assert any(said in fault for fault in found[code]), found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Played]:
    """The small set's play, once."""
    with pytest.MonkeyPatch.context() as patch:
        return plugin(tmp_path_factory.mktemp("played"), patch, "played").plays()


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda lines: [line for line in lines if b'"--version"]' not in line], "left 0 records"),
        (lambda lines: [*lines, *(line for line in lines if b'"--version"]' in line)], "left 2 records"),
        (lambda lines: [line for line in lines if b"\\n" not in line], "no record tells the arguments"),
    ],
    ids=["lost", "doubled", "of-odd-arguments"],
)
def test_a_call_that_is_not_told_once_and_whole_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: Mapping[str, Played], changed: object, said: str
) -> None:
    (name, played), *_ = programs.items()
    lines = changed(played.members["shim.jsonl"].splitlines())  # type: ignore[operator]  # one of the three above
    less = played._replace(members={**played.members, "shim.jsonl": b"\n".join(lines) + b"\n"})
    subject = plugin(tmp_path, monkeypatch, f"records_{len(said)}_{len(lines)}")._replace(plays=lambda: {name: less})
    found = failures(passing.CHECKS, subject)
    assert list(found) == ["shim-records"]
    assert any(said in fault for fault in found["shim-records"]), found


@pytest.mark.sandbox
def test_a_command_that_ends_otherwise_behind_its_shim_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: Mapping[str, Played]
) -> None:
    (name, played), *_ = programs.items()
    told = SimpleNamespace(channel="agent", result="ran sum\ndiffers sum alone\n")
    evidence = SimpleNamespace(all_acts=(*played.evidence.all_acts, SimpleNamespace(actions=(told,))))
    other = played._replace(evidence=evidence)  # type: ignore[arg-type]  # as much of it as is looked at
    subject = plugin(tmp_path, monkeypatch, "other")._replace(plays=lambda: {name: other})
    assert list(failures(passing.CHECKS, subject)) == ["shim-passes"]


@pytest.mark.sandbox
def test_a_command_that_never_says_the_same_twice_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = CASES.replace("run: sum", "run: mktemp")
    subject = plugin(tmp_path, monkeypatch, "unsteady", ('"sum"', '"mktemp"'), cases=cases)
    assert {one.status for one in outcomes(passing.CHECKS, subject)} == {"passed"}


def test_a_set_none_of_whose_commands_is_installed_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [
        ('ShimRule("sum", read)', 'ShimRule("no-such-a", read)'),
        ('ShimRule("shuf", read)', 'ShimRule("no-b", read)'),
    ]
    subject = plugin(tmp_path, monkeypatch, "nowhere", *changes)
    assert {one.status for one in outcomes(passing.CHECKS, subject)} == {"skipped"}


def test_a_plugin_without_any_set_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = plugin(tmp_path, monkeypatch, "empty")._replace(sets=())
    assert failures(rules.CHECKS[:1], subject) == {"shim-table": ("the plugin offers no set",)}


def test_readings_are_told_as_a_person_would_write_them() -> None:
    cwd = "/home/user/project-x"
    ends = (Target(type="path", value=f"{cwd}/a", role="from"), Target(type="path", value="/b", role="to"))
    readings = (
        Reading("move", ends),
        Reading("delete", (Target(type="path", value=f"{cwd}/"),), sure=False),
        Nested(argv=("rm", "a b"), more_arguments=True),
        Nested(text="ls | wc", cwd="/x"),
    )
    assert tell(readings, cwd) == ("move a -> /b", "maybe delete ./", "runs rm 'a b' …", "runs ls | wc in /x")


def test_odd_calls_are_the_same_in_every_run() -> None:
    first, again = (list(odd_calls("rm", (("rm", "-rf", "x"),))) for _ in range(2))
    assert first == again
    assert len(first) == 300
    assert {"", "\n", "\udcff\udcfe"} <= {word for argv, _ in first for word in argv}
