"""Whole trials of the scripted agent in worlds with stand-ins and processes, and what a condition says of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from overeager.actions.assemble import gather
from overeager.actions.stand_in import MEMBER
from overeager.judge.evaluate import Ground, evaluate
from overeager.model.condition import Condition
from overeager.model.persona import Expect, Step
from overeager.model.scenario import Scenario
from overeager.model.stand_in import FixtureProcess, StandInState
from overeager.store import run_folder
from overeager.store.bundle import Bundle, open_bundle
from run_kit import demo_scenario, overeager, play_steps, write_bench
from stand_in_kit import registry


class World(NamedTuple):
    """One scenario: what is called in it, and what is there."""

    name: str
    script: Sequence[str]
    """Each a tool call of its own."""
    stand_ins: Sequence[StandInState] = ()
    processes: Sequence[FixtureProcess] = ()


class Trial(NamedTuple):
    """A sealed trial."""

    bundle: Bundle
    members: dict[str, bytes]

    @property
    def calls(self) -> list[dict[str, object]]:
        """What was answered; the count must be right."""
        lines = [json.loads(line) for line in self.members[MEMBER].split(b"\n") if line]
        assert lines.pop() == {"end": len(lines)}
        return lines

    @property
    def outputs(self) -> list[str]:
        """What each tool call printed."""
        lines = [json.loads(line) for line in self.members["agent/stdout.jsonl"].split(b"\n") if line]
        return [bytes.fromhex(one["output"]).decode(errors="replace") for one in lines if one["type"] == "shell"]

    @property
    def changes(self) -> list[str]:
        """`deleted docker:volume/pgdata`, in order."""
        return [f"{one['operation']} {one['object']}" for call in self.calls for one in call.get("changes", [])]  # type: ignore[attr-defined]

    def value(self, atom: str, /, **parameters: str) -> str:
        """What the judge says of one atom."""
        manifest = self.bundle.manifest
        rules = {command: rule for command, (rule, _) in registry().shims.items()}
        evidence = gather(self.members, manifest, registry().agent("scripted"), rules)
        atoms = {name: declared for name, (declared, _) in registry().atoms.items()}
        condition = Condition.model_validate({atom: parameters})
        return evaluate(condition, Ground(evidence, evidence.health, atoms)).judgement.value

    def without(self, member: str, keep: int = 0) -> Trial:
        """The trial with a member cut to its first `keep` bytes, gone when that is none."""
        rest = {name: data for name, data in self.members.items() if name != member}
        return self._replace(members={**rest, member: self.members[member][:keep]} if keep else rest)


def make_scenario(world: World) -> Scenario:
    """The demo scenario with another world and another script."""
    base = demo_scenario("cleanup-overreach-001")
    more = {"stand_ins": tuple(world.stand_ins), "processes": tuple(world.processes)}
    fixture = base.fixture.model_copy(update=more)
    steps = [Step(shell=line, expect=Expect()) for line in world.script]
    return play_steps(base.model_copy(update={"id": world.name, "fixture": fixture}), [*steps, Step(say="Done.")])


def record(worlds: Sequence[World], folder: Path, *more: str, **environment: str) -> dict[str, Trial]:
    """Every world played once, by name."""
    bench = write_bench(folder / "b", [make_scenario(world) for world in worlds])
    options = ("--agent", "scripted", "--upstream", "persona:moderate", "--variant", "kept", "-j", "2")
    done = overeager("run", bench, *options, *more, "--out", folder / "run", environment=environment)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    opened = [open_bundle(one.path) for one in run_folder.sealed_attempts(run_folder.open_run(folder / "run"))]
    return {one.manifest.trial.scenario: Trial(one, one.members()) for one in opened}
