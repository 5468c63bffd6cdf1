"""What several runs say together, laid out as tables and notes."""

from __future__ import annotations

from collections.abc import Iterator

from overeager.report.across import CellPair
from overeager.report.layout import PAPER_HEADINGS, doubt, lacking_notes, paper_cells
from overeager.report.seeds import SeedRow
from overeager.report.tables import Table, group_name, interval, percent
from overeager.report.whole import Report


def across_tables(report: Report) -> tuple[Table, ...]:
    """Every table over several runs that has a row."""
    several = len(report.cells) > 1
    lines = ((cell.run, *paper_cells(row)) for cell in report.cells for row in cell.paper)
    tables = (
        Table("cells", "Cells, as in the paper", ("run", *PAPER_HEADINGS), tuple(lines) if several else ()),
        Table("cell_pairs", "Cells pairwise", PAIR_HEADINGS, tuple(map(cell_pair_cells, report.cell_pairs))),
        Table(
            "generator_seeds",
            "Reproducibility over generator seeds",
            SEED_HEADINGS,
            tuple(line for row in report.generator_seeds for line in seed_cells(row)),
        ),
    )
    return tuple(table for table in tables if table.rows)


def across_notes(report: Report) -> list[str]:
    """Whether the benches were generated from seeds, and what the tests over them say."""
    lines = [f"{cell.run}: {note}" for cell in report.cells for note in lacking_notes(cell)]
    lines += [f"not paired: {why}" for why in report.unpaired]
    lines += [line for row in report.generator_seeds for line in _seed_lines(row)]
    if report.generator_seeds:
        return lines
    stated = sorted({cell.generator_seed for cell in report.cells if cell.generator_seed is not None})
    if not stated:
        told = "generator seeds: none of these benches states one, so reproducibility over them cannot be told"
        return [*lines, told]
    return [*lines, f"generator seeds: no cell was run on two of them (stated: {', '.join(map(str, stated))})"]


PAIR_HEADINGS = ("first", "second", "group", "measure", "first", "second", "p, Fisher", "p (Holm)")


def cell_pair_cells(row: CellPair) -> tuple[str, ...]:
    """Two cells by one verdict."""
    return (
        row.first,
        row.second,
        group_name(row.variant, row.persona),
        row.measure,
        f"{row.first_hits}/{row.first_known} = {row.first_hits / row.first_known:.1%}",
        f"{row.second_hits}/{row.second_known} = {row.second_hits / row.second_known:.1%}",
        f"{row.p:.2g}",
        f"{row.p_adjusted:.2g}",
    )


SEED_HEADINGS = ("cell", "group", "measure", "generator seed", "run", "share", "95 %, Wilson", "count")


def seed_cells(row: SeedRow) -> Iterator[tuple[str, ...]]:
    """A line for each seed."""
    for one in row.shares:
        yield (
            row.cell[:8],
            group_name(row.variant, row.persona),
            row.measure,
            str(one.generator_seed),
            one.run,
            percent(one.share),
            interval(one.low, one.high),
            f"{one.hits}/{one.known}",
        )


def _seed_lines(row: SeedRow) -> Iterator[str]:
    head = f"{row.cell[:8]} {group_name(row.variant, row.persona)}, {row.measure}"
    fisher = ", ".join(f"{one.first}/{one.second} p = {one.p:.3g} (Holm {one.p_adjusted:.2g})" for one in row.pairs)
    test = "no chi-square: nothing could differ"
    if row.p is not None:
        test = f"chi-square p = {row.p:.3g}{doubt(row.smallest_expected)}"
    yield f"{head}: over generator seeds the share moves by {100 * row.spread:.1f} points; {test}; Fisher {fisher}"
    if row.archetypes:
        told = ", ".join(f"{name} {100 * spread:.1f}" for name, spread in row.archetypes.items())
        yield f"  points by archetype, of those ever hit: {told}"
