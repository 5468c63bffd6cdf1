"""The parser on streams that the real CLI wrote (recording/record.py made them)."""

from __future__ import annotations

from pathlib import Path

import pytest

from overeager import Action, Parsed
from overeager_agent_claude_code.adapter import ClaudeCode
from overeager_agent_claude_code.parse import parse

pytestmark = pytest.mark.pure

HERE = Path(__file__).parent
SHARED = HERE.parents[3] / "shared" / "streams"
OLD, NEW = VERSIONS = ClaudeCode.tested_versions
P = "/home/user/project"

TOUR_OLD = """
say I look first.|executed
edit src/app.py|attempted
read src/app.py|executed
edit src/app.py|executed
create NOTES.md|executed
exec rm -rf build; echo gone|executed 0
exec echo out; echo err >&2; exit 3|failed 3
search .|executed
say tidy up|executed
say SUBTASK look around|executed
exec git status --short|executed
read .env|executed
fetch http://service.test/x|failed
exec printf|executed 0
unknown {"depth": 1}|attempted
read missing.txt|failed
say All done.\u2028Shall I go on?|executed
say sub says|executed
say sub done|executed
"""

TOUR_NEW = (
    TOUR_OLD.replace("edit src/app.py|attempted", "edit src/app.py|-", 1)
    .replace("edit src/app.py|executed", "edit src/app.py|failed")  # the first one went through
    .replace("edit src/app.py|-", "edit src/app.py|executed")
    .replace("search .|executed", "search .|attempted")  # no Grep, no TodoWrite
    .replace("say tidy up|executed", "say tidy up|attempted")
)

OUTSIDE_READ, OUTSIDE_WRITE, DELETE, CURL = 4, 5, 3, 6
"""Places of the gated sessions' acts; 0 and 1 are the read and the edit inside, 2 is `cat .env`, 7 a bad call."""

GATED = {
    (OLD, "acceptEdits"): {OUTSIDE_READ: "mode", OUTSIDE_WRITE: "mode", CURL: "mode"},
    (OLD, "default"): {1: "mode", DELETE: "mode", OUTSIDE_READ: "mode", OUTSIDE_WRITE: "mode", CURL: "mode"},
    (OLD, "plan"): {1: "mode", DELETE: "mode", OUTSIDE_READ: "mode", OUTSIDE_WRITE: "mode", CURL: "mode"},
    (OLD, "dontAsk"): {1: "mode", DELETE: "mode", OUTSIDE_READ: "mode", OUTSIDE_WRITE: "mode", CURL: "mode"},
    (NEW, "acceptEdits"): {OUTSIDE_READ: "mode", OUTSIDE_WRITE: "mode", CURL: "mode"},
    (NEW, "default"): {1: "mode", DELETE: "mode", OUTSIDE_READ: "mode", OUTSIDE_WRITE: "mode", CURL: "mode"},
    (NEW, "plan"): {1: "mode", DELETE: "classifier", OUTSIDE_WRITE: "mode", CURL: "classifier"},
    (NEW, "dontAsk"): {1: "mode", DELETE: "mode", OUTSIDE_READ: "mode", OUTSIDE_WRITE: "mode", CURL: "mode"},
}
"""What each mode stops, and which gate it was."""


def recorded(version: str, name: str) -> dict[str, bytes]:
    """The members of a recorded session, by stream."""
    return {path.stem: path.read_bytes() for path in (HERE / "streams" / version / name).iterdir()}


def told(action: Action) -> str:
    """An action in a line: kind, first target, state, status."""
    value = action.targets[0].value if action.targets else ""
    short = value.replace(f"{P}/", "").replace(P, ".").split(" 'a\\342")[0]
    status = "" if action.exit_status is None else f" {action.exit_status}"
    return f"{action.kind} {short}|{action.state}{status}"


@pytest.mark.parametrize(("version", "expected"), [(OLD, TOUR_OLD), (NEW, TOUR_NEW)])
def test_tour_reads_as_one_action_a_call_with_the_best_known_state(version: str, expected: str) -> None:
    parsed = parse(recorded(version, "tour"))
    assert [told(action) for action in parsed.actions] == expected.strip().split("\n")
    assert [action.sequence for action in parsed.actions] == list(range(len(parsed.actions)))


@pytest.mark.parametrize("version", VERSIONS)
def test_tour_names_version_end_final_message_and_exchanges(version: str) -> None:
    parsed = parse(recorded(version, "tour"))
    assert (parsed.version, parsed.end, parsed.final_message) == (version, "completed", "All done.\u2028Shall I go on?")
    assert parsed.exchanges == 14  # 11 of the main conversation, 3 of the sub-agent


@pytest.mark.parametrize("version", VERSIONS)
def test_tool_calls_point_at_stdout_and_what_stdout_lacks_at_the_session(version: str) -> None:
    actions = parse(recorded(version, "tour")).actions
    sub = [action for action in actions if action.targets[0].value in ("sub says", "sub done")]
    assert {action.source.member for action in sub} == {"agent/session.jsonl"}
    assert {action.source.member for action in actions if action not in sub} == {"agent/stdout.jsonl"}
    raw = recorded(version, "tour")["stdout"].split(b"\n")
    for action in actions:
        if action.tool_call:
            assert action.tool_call.encode() in raw[action.source.line - 1]


@pytest.mark.parametrize("version", VERSIONS)
def test_session_alone_shows_the_same_tool_calls(version: str) -> None:
    streams = recorded(version, "tour")
    both, alone = parse(streams), parse({"session": streams["session"]})
    assert _by_call(alone) == _by_call(both)
    assert alone.end == "none"
    assert alone.final_message == both.final_message


@pytest.mark.parametrize("version", VERSIONS)
def test_session_finishes_calls_whose_result_stdout_lost(version: str) -> None:
    streams = recorded(version, "tour")
    cut = streams["stdout"][: streams["stdout"].index(b'"tool_result"')]
    first = next(action for action in parse({**streams, "stdout": cut}).actions if action.tool_call)
    assert first.source.member == "agent/stdout.jsonl"
    assert first.state == parse(streams).actions[1].state


@pytest.mark.parametrize(("version", "mode"), GATED)
def test_what_a_mode_stops_is_blocked_and_says_by_what(version: str, mode: str) -> None:
    streams = recorded(version, f"gated-{mode}")
    actions = [action for action in parse(streams).actions if action.tool_call]
    blocked = {place: action.blocked_by for place, action in enumerate(actions) if action.state == "blocked"}
    assert blocked == GATED[version, mode]
    assert actions[7].state == "attempted"  # a call without its arguments


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("answer", "state", "by"), [("yes", "executed", None), ("no", "blocked", "user")])
def test_questions_of_a_two_way_session_are_asks_and_the_answer_tells_who_stopped_it(
    version: str, answer: str, state: str, by: str | None
) -> None:
    actions = parse(recorded(version, f"asked-{answer}")).actions
    asks = {action.tool_call for action in actions if action.kind == "ask"}
    grants = {action.tool_call for action in actions if action.kind == "grant"}
    calls = [action for action in actions if action.kind in ("edit", "exec")]
    assert [(call.state, call.blocked_by) for call in calls] == [(state, by)] * 2
    assert asks == {call.tool_call for call in calls}
    assert grants == (asks if answer == "yes" else set())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "end", "detail"),
    [
        ("turn-limit", "turn_limit", "limit of turns"),
        ("api-400", "agent_error", "400"),
        ("api-529", "provider_error", "529"),
        ("null", "completed", ""),
    ],
)
def test_end_is_read_from_the_result_line_never_from_its_subtype(
    version: str, name: str, end: str, detail: str
) -> None:
    parsed = parse(recorded(version, name))
    assert parsed.end == end
    assert detail in parsed.end_detail


@pytest.mark.parametrize("version", VERSIONS)
def test_words_that_the_cli_wrote_itself_are_not_the_models(version: str) -> None:
    parsed = parse(recorded(version, "api-529"))
    assert [action.actor for action in parsed.actions] == ["agent"]
    assert (parsed.final_message, parsed.exchanges) == ("", 0)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("stream", ["stdout", "session"])
def test_a_stream_cut_at_any_byte_keeps_what_stood_before_the_cut(version: str, stream: str) -> None:
    data = recorded(version, "tour")[stream]
    whole = parse({stream: data})
    for at in [*range(0, len(data), 997), len(data) - 1]:
        parsed = parse({stream: data[:at]})
        kept = parsed.actions[:-1] if parsed.actions and parsed.actions[-1].kind == "unknown" else parsed.actions
        assert [(a.kind, a.source) for a in kept if a.kind != "write"] == [
            (a.kind if a.kind != "create" else b.kind, a.source)
            for a, b in zip(whole.actions, kept, strict=False)
            if b.kind != "write"
        ]
        for before, after in zip(whole.actions, kept, strict=False):
            assert after.state in (before.state, "unfinished")
            assert after.targets == before.targets
        assert stream == "session" or parsed.end in ("none", whole.end)


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", ["2.1.117.tour", "2.1.117.perm-acceptEdits", "2.1.332.tour", "2.1.332.perm-stdio-prompt"]
)
def test_streams_recorded_elsewhere_have_no_unknown_and_a_proper_end(name: str) -> None:
    parsed = parse({"stdout": (SHARED / "recorded" / f"claude-code-{name}.jsonl").read_bytes()})
    assert parsed.end == "completed"
    assert name.startswith(f"{parsed.version}.")
    assert not [action for action in parsed.actions if action.kind == "unknown"]


@pytest.mark.shared
def test_foreign_streams_of_other_versions_never_raise() -> None:
    paths = sorted((SHARED / "claude-code").glob("*.jsonl"))
    assert paths
    for path in paths:
        for stream in ("stdout", "session"):
            assert parse({stream: path.read_bytes()}).actions


def _by_call(parsed: Parsed) -> dict[str, tuple[object, ...]]:
    return {a.tool_call: (a.kind, a.state, a.targets, a.result) for a in parsed.actions if a.tool_call}
