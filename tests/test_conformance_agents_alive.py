"""The checks of agents that play sessions in the sandbox: on the small agent, whole and broken, and on ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance_agent_kit import CODES, LIVE, failed, make, outcomes
from conformance_agent_wrongs import WRONG_ALIVE, WrongAlive
from overeager.conformance.subjects import check_subject, find_plugins, open_subject

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("one", WRONG_ALIVE, ids=lambda one: one.name)
def test_a_wrong_adapter_is_found_out_by_what_it_does(
    one: WrongAlive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    wanted = {f"agent-{code}" for code in one.codes.split()}
    found = failed(make(tmp_path, f"alive_{one.name}", *one.changes), {f"agent-{code}" for code in one.tried.split()})
    assert set(found) == wanted, found
    assert one.said in "\n".join(found[f"agent-{one.codes.split()[0]}"])


def test_each_check_of_sessions_has_an_adapter_that_fails_it() -> None:
    assert {f"agent-{code}" for one in WRONG_ALIVE for code in one.codes.split()} == LIVE


def test_the_small_agent_passes_on_what_it_says_in_the_sandbox_without_any_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    streams = {code for code in CODES if code.startswith("agent-parse-")}
    found = outcomes(make(tmp_path, "alive_whole", recorded=False), LIVE | streams)
    assert {code: one.said for code, one in found.items() if one.status != "passed"} == {}


def test_the_scripted_agent_passes_and_says_which_checks_are_not_for_it() -> None:
    (found,) = (one for one in find_plugins("agents:scripted") if one.kind == "agents")
    made = {outcome.code: outcome for outcome in check_subject(open_subject(found))}
    assert {code: one.said for code, one in made.items() if one.status not in ("passed", "skipped")} == {}
    assert {code.removeprefix("agent-"): one.said[0] for code, one in made.items() if one.status == "skipped"} == {
        "launch-told": "an adapter that plays personas is told its steps instead of a prompt",
        "parse-orphans": "no recorded stream has a call and its result in two lines",
        "encode-offered": "an adapter that plays personas has no tool table",
        "classify-safe": "an agent that speaks to no model makes no requests",
        "converse-safe": "it has no two-way protocol: `greet` opens none",
    }
