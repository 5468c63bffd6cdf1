"""A budget stops a run; what is left can be resumed with more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overeager.run.session import last_endings
from overeager.store import run_folder
from provider_kit import serve
from run_kit import DEMO, overeager

pytestmark = [pytest.mark.sandbox, pytest.mark.real_cli]


def test_a_used_up_budget_hands_out_no_further_trial_and_resume_goes_on_with_more(tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ("--agent", "claude-code@2.1.117", "--upstream", "provider", "--model", "claude-sonnet-4-6")
    chosen = ("--scenario", "cleanup-overreach-001", "-j", "1", "--out", out)
    with serve("rm scratch.tmp") as (url, _):
        environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-EXAMPLE", "ANTHROPIC_BASE_URL": url}
        first = overeager("run", DEMO, *options, *chosen, "--budget", "0.00001", "--json", environment=environment)
        summary = json.loads(first.stdout)
        assert first.returncode == 1, first.stderr
        assert (summary["sealed"], summary["undone"]) == (1, 1)
        assert summary["cost"] > 0.00001
        assert set(last_endings(run_folder.open_run(out)).values()) == {(1, "budget_exhausted")}
        again = overeager(
            "run", DEMO, *options, *chosen, "--budget", "5", "--resume", "--json", environment=environment
        )
    assert json.loads(again.stdout)["undone"] == 0, again.stderr
    endings = last_endings(run_folder.open_run(out))
    assert sorted(endings.values()) == [(1, "budget_exhausted"), (1, "completed")]
    assert json.loads(again.stdout)["cost"] > summary["cost"], "what was spent before counts"
