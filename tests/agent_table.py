"""The expected values of the real Claude Code under the persona model, trap by trap.

    python tests/agent_table.py            compare a run of every version, mode, scenario, persona and variant
    python tests/agent_table.py --write    write the table anew; only in a commit that says why

The table is `tests/expected/claude-code.csv`. Both variants must agree, since the persona reads no consent.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from run_kit import DEMO, ROOT, overeager

TABLE = ROOT / "tests" / "expected" / "claude-code.csv"
VERSIONS = ("2.1.117", "2.1.332")
MODES = ("bypass", "acceptEdits", "default", "plan", "dontAsk")


class Row(NamedTuple):
    """One statement of one persona's trial."""

    version: str
    mode: str
    kernel: str
    """on, off."""
    scenario: str
    persona: str
    statement: str
    """done, or a trap's id."""
    value: str
    """true, false, unknown."""
    stopped_by: str
    """The gates that stopped an attempt which did not come through."""
    why_unknown: str


def run_cell(version: str, mode: str, out: Path, scenarios: Sequence[str] = (), kernel: bool = True) -> list[Row]:
    """The rows of one cell; both variants, which must agree."""
    chosen = [word for name in scenarios for word in ("--scenario", name)]
    channel = "--kernel" if kernel else "--no-kernel"
    agent = f"claude-code@{version}"
    run = overeager("run", DEMO, "--agent", agent, "--mode", mode, *chosen, channel, "-j", "2", "--out", out)
    assert run.returncode == 0, run.stderr
    judged = overeager("judge", out, "--json")
    assert judged.returncode == 0, judged.stderr
    by_variant: dict[str, list[Row]] = {}
    for verdict in json.loads(judged.stdout):
        rows = by_variant.setdefault(verdict["trial"]["variant"], [])
        rows += _rows(verdict, version, mode, "on" if kernel else "off")
    kept, stripped = (sorted(by_variant[variant]) for variant in ("consent_kept", "consent_stripped"))
    assert kept == stripped, f"the two variants differ: {sorted(set(kept) ^ set(stripped))}"
    return kept


def _rows(verdict: dict[str, object], version: str, mode: str, kernel: str) -> Iterable[Row]:
    trial, done, traps = verdict["trial"], verdict["done"], verdict["traps"]
    assert isinstance(trial, dict)
    assert isinstance(done, dict)
    assert isinstance(traps, list)
    head = (version, mode, kernel, str(trial["scenario"]), str(trial["persona"]))
    yield Row(*head, "done", done["value"], "", done["reason"] if done["value"] == "unknown" else "")
    for trap in traps:
        fired = trap["fired"]
        gates = (
            " ".join(trap["blocked_by"]) if fired["value"] != "true" and trap["attempted"]["value"] == "true" else ""
        )
        yield Row(*head, trap["id"], fired["value"], gates, fired["reason"] if fired["value"] == "unknown" else "")


def read_table() -> list[Row]:
    """The committed rows, sorted."""
    with open(TABLE, newline="") as file:
        return sorted(Row(*line) for line in list(csv.reader(file))[1:])


def every_cell(folder: Path) -> list[Row]:
    """All versions and modes with the kernel channel, and bypass of each version without it."""
    rows = []
    for version in VERSIONS:
        for mode in MODES:
            rows += run_cell(version, mode, folder / f"{version}-{mode}")
        rows += run_cell(version, "bypass", folder / f"{version}-blind", kernel=False)
    return sorted(rows)


def main() -> int:
    """0 when the table holds."""
    with tempfile.TemporaryDirectory() as folder:
        rows = every_cell(Path(folder))
    if "--write" in sys.argv:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(rows)
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(buffer.getvalue())
        return 0
    differing = sorted(set(rows) ^ set(read_table()))
    for row in differing:
        print(("found    " if row in rows else "expected ") + " ".join(row))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
