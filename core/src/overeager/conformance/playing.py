"""Scenarios really executed in the sandbox by the scripted agent, and judged: what checks of behaviour rest on."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from overeager.actions.evidence import BundleEvidence
from overeager.conformance.check import Unavailable
from overeager.contract.registry import Registry
from overeager.loading.discover import Found, scan
from overeager.loading.locks import judge_lock
from overeager.loading.registry import load_registry
from overeager.model.bundle import BundleManifest, Cell
from overeager.model.condition import Condition
from overeager.model.fixture import Fixture
from overeager.model.persona import Personas, Step
from overeager.model.scenario import Authorization, Case, Prompt, Scenario, Trap
from overeager.model.verdict import Verdict
from overeager.run.judging import Judging, examine_bundle
from overeager.run.plan import Choice
from overeager.run.session import Session
from overeager.run.tools import probe_here
from overeager.store import run_folder
from overeager.store.bench import Bench, build_bench
from overeager.store.fixture import canary

_CANARY = re.compile(r"\{canary:([^}]+)\}")

AGENT = "scripted"
READERS = ("overeager.agents", "overeager.shims", "overeager.atoms")
"""What a trial of the scripted agent and its judge need."""


class Played(NamedTuple):
    """One scenario after its first persona was played."""

    scenario: Scenario
    manifest: BundleManifest
    members: Mapping[str, bytes]
    evidence: BundleEvidence
    verdict: Verdict

    @property
    def fired(self) -> frozenset[str]:
        """The traps that are TRUE."""
        return self._traps("true")

    @property
    def unknown(self) -> frozenset[str]:
        """The traps of which nothing can be said."""
        return self._traps("unknown")

    def _traps(self, value: str) -> frozenset[str]:
        return frozenset(trap.id for trap in self.verdict.traps if trap.fired.value == value)


Plays = Callable[[], Mapping[str, Played]]
"""What was played, by label; executed once, whoever asks first. Raises Unavailable."""


def read_registry(found: Found) -> Registry:
    """The readers that are installed and whole, with the plugin under check among them, instead of one of its name."""
    others = (one for one in scan() if one.key != found.key)
    return load_registry(READERS, agents=(AGENT,), hard=False, found=(*others, found))


def package_of(module: str) -> str:
    """The imported package that `module` is, or the one that it lies in: where a plugin's data lies."""
    return module if hasattr(sys.modules[module], "__path__") else module.rpartition(".")[0] or module


def prepare(scenarios: Callable[[], Mapping[str, Scenario]], registry: Callable[[], Registry]) -> Plays:
    """The play of `scenarios`, put off until it is asked for, and made once."""

    @cache
    def plays() -> Mapping[str, Played]:
        return play(scenarios(), registry())

    return plays


def with_steps(scenario: Scenario, steps: Sequence[Step]) -> Scenario:
    """The scenario with `steps` as each persona's."""
    played = tuple(steps)
    return scenario.model_copy(update={"personas": Personas(cautious=played, moderate=played, aggressive=played)})


def around(title: str, steps: Sequence[Step], fixture: Fixture) -> Scenario:
    """A scenario that is about nothing but `steps` in `fixture`; its one trap is there because each has one."""
    word = Step(say="Done.")
    said = Condition(operator="atom", atom="speech.said", parameters={"pattern": "."})
    trap = Trap(id="spoke", title="spoke", severity="low", reason="-", counts="said", when=said, bait=(), surface=())
    scenario = Scenario(
        schema_version=1,
        id="case",
        archetype="case",
        title=title,
        prompt=Prompt(text="{consent}", block="-\n"),
        done=said,
        traps=(trap,),
        authorization=Authorization(),
        fixture=fixture,
        personas=Personas(cautious=(word,), moderate=(word,), aggressive=(word,)),
        cases=(Case(trap="spoke", fires=((word,), (word,)), near_miss=(word,)),),
    )
    return with_steps(scenario, steps)


def play(scenarios: Mapping[str, Scenario], registry: Registry, mode: str = "") -> Mapping[str, Played]:
    """Each scenario's cautious persona, played once with its consent block, and judged; by the same labels.

    `mode` is one of the scripted agent's permission modes, empty = its first. `{canary:PATH}` in a step becomes the
    canary of that file. Raises Unavailable where no sandbox works, and what a run raises. A scenario whose trial came
    to no bundle is left out. Call it in a process without threads.
    """
    if problem := probe_here(os.environ):
        raise Unavailable(f"it is played in the sandbox, and none works here: {problem}")
    numbered = {f"play-{number:04d}": label for number, label in enumerate(scenarios, start=1)}
    renamed = [_as_seed(scenarios[label], number) for number, label in numbered.items()]
    with TemporaryDirectory(prefix="plays-") as scratch:
        folder = Path(scratch)
        bench = build_bench("plays", "For a check", [(one.id, one) for one in renamed], judge_lock(registry, renamed),
                            folder / "plays")  # fmt: skip
        _run(bench, folder, registry, mode)
        return {numbered[name]: played for name, played in _judge(bench, folder / "run", registry).items()}


def _as_seed(scenario: Scenario, name: str) -> Scenario:
    told = scenario.provenance.model_copy(update={"seed_scenario": None, "generator": None})
    personas = Personas(
        cautious=tuple(_fill(step, name) for step in scenario.personas.cautious),
        moderate=scenario.personas.moderate,
        aggressive=scenario.personas.aggressive,
    )
    return scenario.model_copy(update={"id": name, "provenance": told, "personas": personas})


def _fill(step: Step, scenario_id: str) -> Step:
    """The step with the canaries that it speaks of: no scenario's own step can know one."""
    text = step.model_dump_json(exclude_defaults=True)
    filled = _CANARY.sub(lambda found: canary(scenario_id, found[1]), text)
    return step if filled == text else Step.model_validate_json(filled)


def _run(bench: Bench, folder: Path, registry: Registry, mode: str) -> None:
    adapter = registry.agent(AGENT)
    cell = Cell(
        agent=AGENT,
        version=version("overeager"),
        mode=mode or adapter.modes[0].id,
        upstream="persona",
        model=AGENT,
        responder="nobody",
        sandbox="bubblewrap",
        kernel=True,
    )
    choice = Choice(cell=cell, variants=("consent_kept",), personas=("cautious",), repeats=1)
    where = (bench, folder / "plays", folder / "run")
    session = Session.prepare(*where, choice, registry, os.environ, shims=True, resume=False)
    session.execute(os.cpu_count() or 1, lambda outcome, name: None)


def _judge(bench: Bench, run: Path, registry: Registry) -> dict[str, Played]:
    scenarios = {scenario.id: scenario for scenario in bench.scenarios}
    judging = Judging(registry, bench.manifest.judge, scenarios)
    played = {}
    for sealed in run_folder.sealed_attempts(run_folder.open_run(run)):
        opened = run_folder.open_attempt(sealed)
        evidence, verdict = examine_bundle(opened, judging)
        name = opened.manifest.trial.scenario
        played[name] = Played(scenarios[name], opened.manifest, opened.members(), evidence, verdict)
    return played
