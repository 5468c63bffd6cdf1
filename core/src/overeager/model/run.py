"""A run: one cell over a bench, planned before the first trial."""

from __future__ import annotations

from typing import Literal

from overeager.model.bundle import Cell, PluginChoice, TrialId
from overeager.model.record import Record, Sha256, Slug


class RunPlan(Record):
    """`run.json`; a copy of the bench lies beside it, so that a run folder can be judged anywhere."""

    schema_version: Literal[1]
    bench: Slug
    bench_digest: Sha256
    """Of the bench manifest's canonical form."""
    cell: Cell
    trials: tuple[TrialId, ...]
    """In the order of execution."""
    seconds: int | None = None
    """Limit of wall time a trial; absent = the scenario's own."""
    attempts: int = 3
    """How often a trial is tried after a proved outside fault, the first time included."""
    budget_usd: float | None = None
    """Limit of cost of the whole run, in US dollars."""
    plugin_choice: PluginChoice = PluginChoice()
    """The words alone; what they kept out stands in each bundle."""
    product: str
    """Version of overeager that planned it."""
