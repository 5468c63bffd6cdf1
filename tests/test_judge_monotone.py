"""Removing evidence moves a verdict's values only towards UNKNOWN; judging is a function of bytes alone."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import overeager.testing
from overeager.actions.assemble import gather
from overeager.judge.conclude import Seals, conclude
from overeager.judge.profile import FULL, PROFILES, Profile
from overeager.loading.registry import load_registry
from overeager.model.bundle import BundleManifest
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.run.judging import trap_targets
from overeager.store.bench import load_bench
from overeager.store.bundle import open_bundle

pytestmark = pytest.mark.pure

GOLDEN = Path(overeager.testing.__file__).parent / "golden"
BUNDLES = sorted((GOLDEN / "bundles").glob("*.zip"))
SEALS = Seals("0" * 64, "0" * 64, "0" * 64)


class Case(NamedTuple):
    """A bundle in memory."""

    manifest: BundleManifest
    members: Mapping[str, bytes]
    scenario: Scenario


@functools.cache
def registry():  # type: ignore[no-untyped-def]  # cached once
    return load_registry(("overeager.agents", "overeager.shims", "overeager.atoms"), agents=("scripted",))


@functools.cache
def case(path: Path) -> Case:
    opened = open_bundle(path)
    scenarios = {scenario.id: scenario for scenario in load_bench(GOLDEN / "bench").scenarios}
    return Case(opened.manifest, opened.members(), scenarios[opened.manifest.trial.scenario])


def judge(bundle: Case, members: Mapping[str, bytes], profile: Profile = FULL) -> Verdict:
    loaded = registry()
    rules = {command: rule for command, (rule, _) in loaded.shims.items()}
    atoms = {name: declaration for name, (declaration, _) in loaded.atoms.items()}
    adapter = loaded.agent("scripted")
    gathered = gather(members, bundle.manifest, adapter, rules, trap_targets(bundle.scenario), profile.channels)
    return conclude(gathered, bundle.manifest, bundle.scenario, atoms, SEALS, profile)


def values(verdict: Verdict) -> dict[str, str]:
    """Every three-valued statement of a verdict."""
    found = {"done": verdict.done.value, "overeager": verdict.overeager.value, "gate": verdict.safety_gate.value}
    for trap in verdict.traps:
        found[f"{trap.id} fired"] = trap.fired.value
        found[f"{trap.id} attempted"] = trap.attempted.value
    assert verdict.scope is not None
    found["scope"], found["net change"] = verdict.scope.overreach.value, verdict.scope.net_change.value
    return found


@st.composite
def mutilations(draw: st.DrawFn) -> tuple[Path, dict[str, bytes | None]]:
    """A bundle, and for some of its members what is left of them: nothing, or a beginning."""
    path = draw(st.sampled_from(BUNDLES))
    members = case(path).members
    chosen = draw(st.lists(st.sampled_from(sorted(members)), min_size=1, max_size=4, unique=True))
    left: dict[str, bytes | None] = {}
    for name in chosen:
        cut = draw(st.one_of(st.none(), st.integers(0, max(0, len(members[name]) - 1))))
        left[name] = None if cut is None else members[name][:cut]
    return path, left


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutilation=mutilations())
def test_deleting_or_cutting_any_member_moves_values_only_towards_unknown(
    mutilation: tuple[Path, dict[str, bytes | None]], profile: Profile
) -> None:
    path, left = mutilation
    bundle = case(path)
    members = {name: left.get(name, data) for name, data in bundle.members.items()}
    whole = values(judge(bundle, bundle.members, profile))
    less = values(judge(bundle, {name: data for name, data in members.items() if data is not None}, profile))
    for statement, value in less.items():
        assert value in ("unknown", whole[statement]), f"{path.name}: {statement} was {whole[statement]}, is {value}"


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.stem)
def test_without_any_member_everything_is_unknown(path: Path, profile: Profile) -> None:
    assert set(values(judge(case(path), {}, profile)).values()) == {"unknown"}


@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.stem)
def test_the_golden_bundles_keep_their_verdicts(path: Path) -> None:
    """A cautious persona fires nothing, the aggressive one everything, and both get done; nothing is unknown."""
    bundle = case(path)
    verdict = judge(bundle, bundle.members)
    fired = {trap.id for trap in verdict.traps if trap.fired.value == "true"}
    everything = {trap.id for trap in bundle.scenario.traps}
    expected = {"cautious": lambda: fired == set(), "aggressive": lambda: fired == everything}
    assert expected.get(str(bundle.manifest.trial.persona), lambda: set() < fired < everything)()
    assert verdict.done.value == "true"
    assert "unknown" not in {trap.fired.value for trap in verdict.traps}
    assert verdict.scope is not None
    assert verdict.scope.overreach.value == ("true" if fired else "false")


def test_judging_twice_elsewhere_gives_the_same_bytes(tmp_path: Path) -> None:
    """Other folder, locale, time zone, hash seed and order of entry points."""
    script = (
        "import sys, random\n"
        "from pathlib import Path\n"
        "from overeager.loading import discover\n"
        "found = list(discover.scan()); random.shuffle(found)\n"
        "discover.scan = lambda: tuple(found)\n"
        "import test_judge_monotone as t\n"
        "for path in t.BUNDLES:\n"
        "    b = t.case(path)\n"
        "    sys.stdout.buffer.write(t.judge(b, b.members).canonical() + b'\\n')\n"
    )
    outputs = set()
    for zone, language, seed in (("UTC", "C", "0"), ("Asia/Kathmandu", "tr_TR.UTF-8", "77"), ("", "C.UTF-8", "random")):
        environment = {**os.environ, "TZ": zone, "LC_ALL": language, "PYTHONHASHSEED": seed}
        environment["PYTHONPATH"] = str(Path(__file__).parent)
        folder = tmp_path / f"in-{seed}"
        folder.mkdir()
        ran = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, cwd=folder, env=environment, check=False
        )
        assert ran.returncode == 0, ran.stderr.decode()
        outputs.add(ran.stdout)
    assert len(outputs) == 1
    assert next(iter(outputs)).count(b"\n") == len(BUNDLES)
