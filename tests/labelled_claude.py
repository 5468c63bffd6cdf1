"""The labelled cases through the real Claude Code, its model a script: what it plays, and what is told of it.

    python tests/labelled_kit.py --claude [VERSION] --table [--keep FOLDER]

Each shell step is a call of Bash, each read, write and edit one of Read, Write and Edit, in the mode that asks for
nothing. The table is `tests/expected/labelled_claude.csv`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from labelled_cases import Case, CaseFixture, Truth
from labelled_recorded import Recorded
from overeager.contract.registry import Registry

VERSIONS = ("2.1.117", "2.1.332")
TABLE = Path(__file__).parent / "expected" / "labelled_claude.csv"
A_FAMILY = 2
"""How many cases of each family are played where all would take too long."""


class Row(NamedTuple):
    """What came of one case."""

    version: str
    case: str
    family: str
    outcome: str
    """exact, missed; stopped = the CLI itself let no step of it through, so that nothing is true of it but that."""
    differs: str
    """The fields and questions in which the product disagrees."""
    cause: str = ""
    """Why; a must for all but exact."""


def agent_of(version: str) -> str:
    """The agent as the command line names it."""
    return f"claude-code@{version}"


def channels_table(version: str) -> Path:
    """Where it stands what each set of channels tells, as in `labelled_channels.py`."""
    return TABLE.with_name(f"labelled_claude_{version}_channels.csv")


class Settled(NamedTuple):
    """A recorded case with what is true of it under this agent."""

    recorded: Recorded
    stopped_by: tuple[str, ...]
    """The gates that stopped every call, where they did."""


def settle(recorded: Sequence[Recorded], registry: Registry) -> list[Settled]:
    """Each case as the agent let it happen: of one whose every call was stopped, nothing is true."""
    found = []
    for one in recorded:
        gates = _find_gates(one, registry)
        case = one.case.model_copy(update={"truth": Truth()}) if gates else one.case
        found.append(Settled(one._replace(case=case), gates))
    return found


def _find_gates(recorded: Recorded, registry: Registry) -> tuple[str, ...]:
    manifest, members = recorded.bundle.manifest, recorded.bundle.members()
    streams = {name: members[member] for name, member in manifest.streams.items() if member in members}
    calls = [one for one in registry.agent(manifest.cell.agent).parse(streams).actions if one.tool_call is not None]
    gates = {call.blocked_by for call in calls if call.state == "blocked" and call.blocked_by is not None}
    return tuple(sorted(gates)) if calls and all(call.state == "blocked" for call in calls) else ()


def make_rows(version: str, settled: Sequence[Settled], differing: Sequence[tuple[str, str]]) -> list[Row]:
    """One row a case; `differing` are (case, what the product says otherwise)."""
    rows = []
    for one in settled:
        case = one.recorded.case
        differs = "; ".join(sorted({what for name, what in differing if name == case.id}))
        outcome = "missed" if differs else "stopped" if one.stopped_by else "exact"
        cause = f"the CLI's own gate: {' '.join(one.stopped_by)}" if outcome == "stopped" else ""
        rows.append(Row(version, case.id, case.family, outcome, differs, cause))
    return rows


def read_table() -> list[Row]:
    """The committed rows."""
    with TABLE.open(newline="") as file:
        return [Row(*line) for line in list(csv.reader(file))[1:]]


def write_table(rows: Sequence[Row]) -> str:
    """The table as CSV, with the causes that are known of the same misses and the rows of other versions."""
    old = read_table() if TABLE.exists() else []
    known = {row[:5]: row.cause for row in old}
    kept = [row for row in old if row.version not in {one.version for one in rows}]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(Row._fields)
    told = [row._replace(cause=row.cause or known.get(row[:5], "")) for row in rows]
    writer.writerows(sorted([*kept, *told]))
    return buffer.getvalue()


def choose_part(version: str, cases: Sequence[Case]) -> list[Case]:
    """Some cases of each family, one of each of its rarest makes, and all that are not told exactly."""
    families: dict[str, dict[tuple[object, ...], list[Case]]] = {}
    for case in cases:
        families.setdefault(case.family, {}).setdefault(_make_of(case), []).append(case)
    chosen = {row.case for row in read_table() if row.version == version and row.outcome != "exact"}
    for makes in families.values():
        rarest = sorted(makes.values(), key=len)[:A_FAMILY]
        chosen |= {alike[0].id for alike in rarest}
    return [case for case in cases if case.id in chosen]


def _make_of(case: Case) -> tuple[object, ...]:
    kinds = tuple(name for step in case.steps for name, value in step if value is not None)
    laid = tuple(name for name in CaseFixture.model_fields if getattr(case.fixture, name))
    return (kinds, laid, bool(case.hosts), bool(case.secrets), case.benign)
