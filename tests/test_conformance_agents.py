"""Every check of agents fails on an adapter that breaks its promise, and on no other where that can be."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from conformance_agent_kit import APART, CODES, LIVE, WHOLE, as_stream, failed, make, outcomes
from conformance_agent_wrongs import WRONG, Wrong
from overeager import OneWayAgent
from overeager.conformance.agents import CHECKS, Recording, importing
from overeager.conformance.agents.apart import call_apart
from overeager.conformance.subjects import find_plugins, open_subject
from run_kit import wait_until_dead


@pytest.mark.parametrize("one", WRONG, ids=lambda one: one.name)
def test_a_wrong_adapter_fails_the_check_of_what_is_wrong_and_no_other(
    one: Wrong, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(importing, "_TIMES", 0)  # a machine under load would bear with the slow one
    wanted = {f"agent-{code}" for code in one.codes.split()}
    subject = make(tmp_path, f"small_{one.name}", *one.changes)
    others = APART - {"agent-import-quick", "agent-functions-pure"} if wanted & APART else CODES - LIVE - APART
    found = failed(subject, wanted if one.name == "slow" else wanted | others)
    assert set(found) == wanted, found
    assert one.said in "\n".join(found[f"agent-{one.codes.split()[0]}"])


def test_the_small_agent_itself_passes_what_needs_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    found = outcomes(make(tmp_path, "small_whole"), CODES - LIVE)
    told = {code: one.said for code, one in found.items() if one.status != "passed"}
    assert told == {"agent-converse-safe": ("it has no two-way protocol: `greet` opens none",)}


def test_each_check_has_an_adapter_that_fails_it() -> None:
    broken = {f"agent-{code}" for one in WRONG for code in one.codes.split()}
    assert broken == CODES - LIVE


def test_codes_are_slugs_that_begin_with_the_kind_and_stand_once() -> None:
    assert len(CODES) == len(CHECKS)
    assert all(check.code.startswith("agent-") and check.promise.endswith(".") and check.why for check in CHECKS)


def test_checks_of_streams_say_so_when_nothing_in_them_can_be_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    subject = make(tmp_path, "small_words")
    words = Recording("words", {"stdout": as_stream(WHOLE[:2])})
    found = outcomes(subject._replace(recordings=(words,)), CODES - LIVE - APART)
    assert found["agent-parse-orphans"].said == ("no recorded stream has a call and its result in two lines",)
    assert found["agent-parse-unknown-tools"].status == "skipped"
    assert found["agent-parse-states"].said == ("no recording has a call that was executed (states seen: none)",)


class Deaf(OneWayAgent):
    """Claude Code with an ear that only hears yes, or none at all."""

    def __init__(self, real: Any, broken: bool) -> None:
        self._real = real
        self._broken = broken

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def greet(self, task: Any) -> Any:
        return self._real.greet(task)

    def converse(self, line: bytes, state: Any, answer: bool) -> Any:
        return self._real.converse(b"{" if self._broken else line, {} if self._broken else state, True)


@pytest.mark.parametrize("broken", [True, False])
def test_a_question_that_gets_one_reply_for_yes_and_for_no_is_found(broken: bool) -> None:
    pytest.importorskip("overeager_agent_claude_code")
    subject = open_subject(find_plugins("agents:claude-code")[0]).seen
    assert "2.1.117/asked-no" in {one.name for one in subject.recordings}
    assert failed(subject, {"agent-converse-safe"}) == {}
    (fault, *_) = failed(subject._replace(adapter=Deaf(subject.adapter, broken)), {"agent-converse-safe"})[
        "agent-converse-safe"
    ]
    assert "gets the same reply for yes and no" in fault


def test_an_agent_that_takes_no_orders_says_so_and_is_played_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    fixed = make(tmp_path, "small_fixed", (']] = "anthropic-messages"', "]] = None"))
    found = outcomes(fixed, {"agent-live-steps", "agent-live-null", "agent-live-timeout", "agent-live-states"})
    assert {one.status for one in found.values()} == {"skipped"}
    assert "declare `wire_api`" in found["agent-live-null"].said[0]


def test_a_wire_api_that_the_gateway_does_not_speak_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    other = make(tmp_path, "small_gemini", (']] = "anthropic-messages"', ']] = "gemini"'))
    found = outcomes(other, {"agent-live-steps", "agent-live-shims"})
    assert {one.said for one in found.values()} == {("the gateway does not speak gemini yet",)}


def test_a_cli_that_is_not_installed_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("overeager_agent_claude_code")
    subject = open_subject(find_plugins("agents:claude-code")[0]).seen
    with TemporaryDirectory() as cache:
        Path(cache).chmod(0o755)
        monkeypatch.setenv("OVEREAGER_CACHE", cache)
        found = outcomes(subject, {"agent-live-steps"})["agent-live-steps"]
    assert (found.status, found.said) == (
        "skipped",
        ("its CLI is not installed: overeager agents install claude-code",),
    )


def test_what_an_import_starts_ends_with_the_process_that_imported_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    start = "import subprocess\nleft = subprocess.Popen(['sleep', '300'])\n"
    (tmp_path / "leaver.py").write_text(f"{start}open({str(tmp_path / 'pid')!r}, 'w').write(str(left.pid))\n")
    told = call_apart(make(tmp_path, "small_leaver").found._replace(value="leaver:SmallAgent"))
    assert any("subprocess.Popen" in effect for effect in told.effects)
    assert wait_until_dead([int((tmp_path / "pid").read_text())]) == []
