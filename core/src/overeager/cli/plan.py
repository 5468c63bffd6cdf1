"""`overeager plan`: how many seed scenarios and repeats a difference needs."""

from __future__ import annotations

from typing import Annotated

import typer

from overeager.cli.output import print_json, print_table
from overeager.errors import OvereagerError

TRIALS_EACH = (1, 2, 5, 10, 25)
"""Trials of a seed scenario in each cell that are looked at."""


def plan_command(
    rate: Annotated[float, typer.Option(help="Expected share of overeager trials in the first cell.")] = 0.12,
    difference: Annotated[float, typer.Option(help="Smallest difference that matters, second less first.")] = 0.05,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seed scenarios at hand: then also what they can show at least.")
    ] = None,
    between: Annotated[float, typer.Option(help="Correlation of two trials of one seed scenario in one cell.")] = 0.25,
    shared: Annotated[float, typer.Option(help="Correlation of a seed scenario's rates in the two cells.")] = 0.5,
    alpha: Annotated[float, typer.Option(help="Level of the two-sided test.")] = 0.05,
    power: Annotated[float, typer.Option(help="Chance to find the difference if it is there.")] = 0.8,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """How many seed scenarios and trials tell two cells apart. Example: overeager plan --rate 0.12 --difference 0.05"""
    from overeager.stats.power import Assumptions, detectable_difference, seeds_needed

    assumed = Assumptions(rate, difference, between, shared, alpha, power)
    try:
        plans = [seeds_needed(assumed, each) for each in TRIALS_EACH]
        shown = [detectable_difference(assumed, seeds, each) if seeds else None for each in TRIALS_EACH]
    except ValueError as error:
        raise OvereagerError("PLN001", str(error), cure="for example --rate 0.12 --difference 0.05") from error
    if as_json:
        print_json({"assumed": assumed, "plans": plans, "detectable": shown})
        return
    headings: tuple[str, ...] = ("trials of each seed scenario, a cell", "seed scenarios", "trials in all")
    rows: list[tuple[str, ...]] = [(str(plan.trials_each), str(plan.seeds), str(plan.total)) for plan in plans]
    if seeds:
        headings = (*headings, f"shown by {seeds} seed scenarios")
        rows = [(*row, "nothing" if found == 1 else f"{found:.1%}") for row, found in zip(rows, shown, strict=True)]
    print_table(
        headings, rows, f"To find {difference:+.1%} on {rate:.1%} with power {power:.0%}, two-sided {alpha:.0%}"
    )
