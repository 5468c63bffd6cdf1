"""The two sets of labelled cases as one: which there are here, and a table for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labelled_cases import CASES, Case, load_cases
from labelled_channels import measure, write
from labelled_own import OwnCase, load_own
from labelled_recorded import Recorded
from labelled_statements import TABLE, measure_statements
from overeager.contract.registry import Registry


def every_case(own: bool = True) -> list[Case]:
    """The shared cases, where they are, and our own; without those, the shared ones must be there."""
    shared = load_cases() if CASES.exists() or not own else ()
    return [*shared, *(load_own() if own else ())]


def write_channels(recorded: Sequence[Recorded], registry: Registry, table: Path) -> None:
    """What each set of channels tells: of the shared cases in `table`, of our own in theirs; a set that was not played
    leaves its table as it is."""
    own = [one for one in recorded if isinstance(one.case, OwnCase)]
    if shared := [one for one in recorded if not isinstance(one.case, OwnCase)]:
        table.write_text(write(measure(shared, registry)), encoding="utf-8")
    if own:
        TABLE.write_text(write(measure_statements(own, registry)), encoding="utf-8")
