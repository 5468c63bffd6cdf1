"""Which trials a run holds, in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from overeager.errors import OvereagerError, near_miss
from overeager.model.bench import BenchManifest
from overeager.model.bundle import Cell, TrialId
from overeager.model.run import RunPlan
from overeager.model.vocabulary import PersonaName, Variant


class Choice(NamedTuple):
    """What the user chose."""

    cell: Cell
    variants: tuple[Variant, ...]
    personas: tuple[PersonaName, ...]
    """Empty when a model speaks for itself."""
    repeats: int
    scenarios: tuple[str, ...] = ()
    """Empty = all."""
    seconds: int | None = None
    attempts: int = 3
    budget_usd: float | None = None


def plan_run(manifest: BenchManifest, choice: Choice, product: str) -> RunPlan:
    """Every scenario × repeat × persona × variant, a pair's two variants side by side; raises RUN001."""
    names = [entry.id for entry in manifest.scenarios]
    for wanted in choice.scenarios:
        if wanted not in names:
            raise OvereagerError(
                "RUN001",
                f"the bench '{manifest.name}' has no scenario '{wanted}'",
                cure=near_miss(wanted, names) or f"it has: {', '.join(names)}",
            )
    chosen = [name for name in names if not choice.scenarios or name in choice.scenarios]
    return RunPlan(
        schema_version=1,
        bench=manifest.name,
        bench_digest=manifest.digest(),
        cell=choice.cell,
        trials=tuple(_trials(chosen, choice)),
        seconds=choice.seconds,
        attempts=choice.attempts,
        budget_usd=choice.budget_usd,
        product=product,
    )


def _trials(names: Sequence[str], choice: Choice) -> list[TrialId]:
    speakers: tuple[PersonaName | None, ...] = choice.personas or (None,)
    return [
        TrialId(scenario=name, variant=variant, persona=persona, repeat=repeat)
        for repeat in range(1, choice.repeats + 1)
        for name in names
        for persona in speakers
        for variant in choice.variants
    ]
