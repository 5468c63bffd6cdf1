"""Each atom on one trial that does everything: TRUE and FALSE as its case says, UNKNOWN when blind, monotone always."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overeager.actions.assemble import gather
from overeager.actions.evidence import BundleEvidence
from overeager.contract.evidence import AtomDeclaration
from overeager.contract.registry import Registry
from overeager.judge.evaluate import Ground, evaluate
from overeager.judge.profile import FULL, PAPER, PROFILES, Profile
from overeager.loading.registry import load_registry
from overeager.model.action import Pointer
from overeager.model.bundle import BundleManifest
from overeager.model.condition import Condition
from overeager.model.verdict import Judgement
from overeager.store import run_folder
from run_kit import overeager, write_bench
from tour import CASES, ELSEWHERE, tour

pytestmark = pytest.mark.sandbox

MOST_ROUNDS = 12
"""A TRUE points at 16 lines at most; several channels may each have as many."""
OF_THE_PAPER = {"agent", "fs", "shim.jsonl", "stand_ins.jsonl"}
"""Members, or their folders, of the channels that the paper's audit had."""


class Tour:
    """The tour's bundle, asked again and again with less of it."""

    def __init__(self, run: Path) -> None:
        opened = run_folder.open_attempt(run_folder.sealed_attempts(run_folder.open_run(run))[0])
        self.manifest: BundleManifest = opened.manifest
        self.members: Mapping[str, bytes] = opened.members()
        readers = ("overeager.agents", "overeager.shims", "overeager.atoms")
        self._registry: Registry = load_registry(readers, agents=("scripted",))
        self.atoms: dict[str, AtomDeclaration] = {name: one for name, (one, _) in self._registry.atoms.items()}

    def evidence(self, members: Mapping[str, bytes], profile: Profile = FULL) -> BundleEvidence:
        rules = {command: rule for command, (rule, _) in self._registry.shims.items()}
        adapter = self._registry.agent("scripted")
        return gather(members, self.manifest, adapter, rules, channels=profile.channels)

    def judge(
        self, evidence: BundleEvidence, atom: str, parameters: Mapping[str, Any], profile: Profile = FULL
    ) -> Judgement:
        condition = Condition(operator="atom", atom=atom, parameters=dict(parameters))
        return evaluate(condition, Ground(evidence, evidence.health, self.atoms, profile)).judgement

    def value(self, evidence: BundleEvidence, atom: str, parameters: Mapping[str, Any], profile: Profile = FULL) -> str:
        return self.judge(evidence, atom, parameters, profile).value


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    folder = tmp_path_factory.mktemp("tour")
    bench = write_bench(folder / "bench", [tour()])
    ran = overeager("run", bench, "--upstream", "persona:cautious", "--variant", "kept", "--out", folder / "run")
    assert ran.returncode == 0, ran.stderr
    return Tour(folder / "run")


@pytest.fixture(scope="module")
def wholes(told: Tour) -> dict[str, BundleEvidence]:
    """All that there is, by the profile that looks at it."""
    return {profile.id: told.evidence(told.members, profile) for profile in PROFILES.values()}


@pytest.fixture(scope="module")
def whole(wholes: dict[str, BundleEvidence]) -> BundleEvidence:
    return wholes[FULL.id]


def test_every_channel_of_the_tour_is_whole(whole: BundleEvidence) -> None:
    assert {channel: health.state for channel, health in whole.health.items() if health.state != "present"} == {}


def test_every_atom_has_a_case_or_a_reason(told: Tour) -> None:
    assert sorted({*CASES, *ELSEWHERE}) == sorted(told.atoms)


@pytest.mark.parametrize("atom", sorted(CASES))
def test_the_atom_holds_where_its_case_says_so(told: Tour, whole: BundleEvidence, atom: str) -> None:
    assert told.value(whole, atom, CASES[atom][0]) == "true"


@pytest.mark.parametrize("atom", sorted(CASES.keys() - ELSEWHERE.keys()))
def test_the_atom_is_ruled_out_where_its_case_says_so(told: Tour, whole: BundleEvidence, atom: str) -> None:
    assert told.value(whole, atom, CASES[atom][1]) == "false"


@pytest.mark.parametrize("atom", sorted(CASES))
def test_without_any_channel_the_atom_is_unknown(told: Tour, atom: str) -> None:
    blind = told.evidence({})
    assert {told.value(blind, atom, parameters) for parameters in CASES[atom]} == {"unknown"}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_less_evidence_moves_every_atom_only_towards_unknown(
    told: Tour, wholes: dict[str, BundleEvidence], profile: Profile, data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(sorted(told.members)), min_size=1, max_size=3, unique=True))
    members = dict(told.members)
    for name in chosen:
        cut = data.draw(st.one_of(st.none(), st.integers(0, max(0, len(members[name]) - 1))))
        members[name] = b"" if cut is None else members[name][:cut]
        if cut is None:
            del members[name]
    less = told.evidence(members, profile)
    for atom, cases in CASES.items():
        for parameters in cases:
            before = told.value(wholes[profile.id], atom, parameters, profile)
            after = told.value(less, atom, parameters, profile)
            assert after in ("unknown", before), f"{atom}({parameters}) was {before}, is {after}"


@pytest.mark.parametrize("atom", sorted(CASES))
def test_a_profile_says_less_of_an_atom_or_the_same(told: Tour, wholes: dict[str, BundleEvidence], atom: str) -> None:
    """Where it still has a channel that shows the atom, it may miss what the others saw; where it has none it is
    blind."""
    whole, narrow = wholes[FULL.id], wholes[PAPER.id]
    declared = told.atoms[atom]
    for parameters in CASES[atom]:
        full, paper = told.value(whole, atom, parameters), told.judge(narrow, atom, parameters, PAPER)
        if not PAPER.narrow(declared.shown_by):
            assert paper.value == "unknown"
            assert f"the profile '{PAPER.id}' leaves out" in paper.reason
        elif full == "false":
            assert paper.value in ("false", "unknown")
        assert {pointer.member.partition("/")[0] for pointer in paper.evidence} <= OF_THE_PAPER


def without(members: Mapping[str, bytes], pointers: Iterable[Pointer]) -> dict[str, bytes]:
    """The members with the lines gone that are pointed at, their counts made right: no gap shows."""
    left = dict(members)
    gone: dict[str, set[int]] = {}
    for pointer in pointers:
        gone.setdefault(pointer.member, set()).add(pointer.line)
    for name, numbers in gone.items():
        lines = [line for at, line in enumerate(left[name].split(b"\n"), start=1) if at not in numbers]
        records = [line for line in lines if line and not line.startswith(b'{"end":')]
        if len(records) < len([line for line in lines if line]):
            lines = [*records, json.dumps({"end": len(records)}).encode(), b""]
        left[name] = b"\n".join(lines)
    return left


@pytest.mark.parametrize("atom", sorted(CASES))
def test_an_atom_whose_evidence_is_taken_away_is_true_no_more(told: Tour, atom: str) -> None:
    """The mutation test of the instrument: what a TRUE points at is removed, again and again, until nothing is left."""
    members: Mapping[str, bytes] = told.members
    for _ in range(MOST_ROUNDS):
        judgement = told.judge(told.evidence(members), atom, CASES[atom][0])
        if judgement.value != "true":
            return
        assert judgement.evidence, f"{atom} is TRUE and points at nothing"
        members = without(members, judgement.evidence)
    pytest.fail(f"{atom} is still TRUE by {judgement.evidence}")
