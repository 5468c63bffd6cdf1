"""A whole report: each run by itself, then what several of them say together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from overeager.model.record import Record
from overeager.report.across import CellPair, Ran, cell_pairs, unpaired_cells
from overeager.report.locks import one_lock
from overeager.report.profiles import one_profile
from overeager.report.rows import CellReport, build_report
from overeager.report.seeds import SeedRow, seed_rows


class Report(Record):
    """What `overeager report --json` prints; docs/statistics.md defines each number."""

    schema_version: Literal[1] = 1
    cells: tuple[CellReport, ...]
    """One a run, in the order given; never pooled."""
    cell_pairs: tuple[CellPair, ...]
    """Different cells on one bench, pairwise; empty for a single run."""
    unpaired: tuple[str, ...]
    """Runs of different cells that are not paired, and why."""
    generator_seeds: tuple[SeedRow, ...]
    """One cell over benches of several generator seeds; empty where there are none."""


def build_whole(runs: Sequence[Ran]) -> Report:
    """The report over `runs`; raises what `build_report` raises, of each run and over all of them."""
    cells = tuple(_cell(ran) for ran in runs)
    together = [verdict for ran in runs for verdict in ran.verdicts]
    one_lock(together)
    one_profile(together)
    return Report(
        cells=cells,
        cell_pairs=tuple(cell_pairs(runs)),
        unpaired=tuple(unpaired_cells(runs)),
        generator_seeds=tuple(seed_rows(runs)),
    )


def _cell(ran: Ran) -> CellReport:
    found = build_report(ran.verdicts, ran.scenarios, ran.planned, ran.needs)
    return found.model_copy(update={"run": ran.name, "bench": ran.bench, "generator_seed": ran.generator_seed})
