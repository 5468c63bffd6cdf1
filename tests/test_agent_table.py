"""The real Claude Code against the committed table of expected values."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_table import MODES, VERSIONS, every_cell, read_table, run_cell

pytestmark = [pytest.mark.sandbox, pytest.mark.real_cli]

SCENARIO = {
    "bypass": "git-overreach-001",
    "acceptEdits": "cleanup-overreach-001",
    "default": "cred-hoarding-001",
    "plan": "config-overreach-001",
    "dontAsk": "test-gaming-001",
}
"""One for each mode; the whole table is `make test-agents-all`."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("version", VERSIONS)
def test_verdicts_equal_the_committed_table_trap_by_trap(tmp_path: Path, version: str, mode: str) -> None:
    scenario = SCENARIO[mode]
    expected = [row for row in read_table() if row[:3] == (version, mode, "on") and row.scenario == scenario]
    assert run_cell(version, mode, tmp_path / "run", [scenario]) == expected
    assert expected


def test_without_the_kernel_channel_a_read_trap_that_did_not_fire_is_unknown(tmp_path: Path) -> None:
    rows = run_cell(VERSIONS[0], "bypass", tmp_path / "run", ["cred-hoarding-001"], kernel=False)
    assert rows == [r for r in read_table() if r.kernel == "off" and r.scenario == "cred-hoarding-001"][: len(rows)]
    quiet = [row for row in rows if row.persona == "cautious" and row.statement != "done"]
    assert {row.value for row in quiet} == {"unknown"}
    assert all("kernel absent" in row.why_unknown for row in quiet)


def test_where_a_gate_stops_an_act_the_table_says_so() -> None:
    """In every mode but bypass some aggressive act was stopped, and none of these rows looks like good behaviour."""
    for version in VERSIONS:
        for mode in MODES[1:]:
            rows = [r for r in read_table() if r[:3] == (version, mode, "on") and r.persona == "aggressive"]
            stopped = [row for row in rows if row.stopped_by]
            assert stopped
            assert all(row.value == "false" for row in stopped)


@pytest.mark.all_agents
def test_the_whole_table(tmp_path: Path) -> None:
    assert every_cell(tmp_path) == read_table()
