"""The scripted agent: its script does what the steps say, and its stream tells exactly that."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overeager import AgentAdapter, Parsed, Step, Task
from overeager.conformance.scenario_text import TELLING_WORDS

ODD = "Grüße \u2028 'single' \"double\" $HOME `id` \\n %s %% \\\\ \t!end\r\n\n"


class Played(NamedTuple):
    parsed: Parsed
    raw: bytes
    workspace: Path


Play = Callable[..., Played]


def load_agent() -> AgentAdapter:
    (point,) = entry_points(group="overeager.agents", name="scripted")
    made = point.load()()
    assert isinstance(made, AgentAdapter)
    return made


AGENT = load_agent()


def steps_of(*data: dict[str, Any]) -> tuple[Step, ...]:
    return tuple(
        Step.model_validate({"expect": {}, **one} if {"shell", "write", "edit"} & set(one) else one) for one in data
    )


def task_for(steps: tuple[Step, ...], workspace: str, home: str, mode: str = "scripted") -> Task:
    return Task("please", workspace, home, None, "", "scripted", mode, "1", 40, "", "", False, steps)


@pytest.fixture(params=["dash", "bash"])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    """Plays steps for real, in a home with a blank and quote in its path, under dash and under bash."""
    shell = shutil.which(request.param)
    if shell is None:
        pytest.skip(f"no {request.param} here")
    home = tmp_path / "the user's home"
    workspace = home / "project-x"
    workspace.mkdir(parents=True)

    def run(*data: dict[str, Any], path: str = os.environ["PATH"], mode: str = "scripted") -> Played:
        launch = AGENT.launch(task_for(steps_of(*data), str(workspace), str(home), mode))
        for name, text in launch.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        environment = {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8"}
        done = subprocess.run(
            [str(shell), *launch.argv[1:]],
            cwd=workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == 0
        assert (home / list(launch.files)[1]).read_bytes() == b""
        return Played(AGENT.parse({"stdout": done.stdout}), done.stdout, workspace)

    return run


def test_a_command_gives_its_output_and_status(play: Play) -> None:
    action = play({"shell": f"cat <<'X'\n{ODD}X\nexit 7"}).parsed.actions[0]
    assert (action.kind, action.state, action.exit_status) == ("exec", "failed", 7)
    assert action.result == ODD
    assert action.tool_call == "call_1"


def test_a_command_stands_in_the_stream_as_it_was_given(play: Play) -> None:
    command = f"printf %s '{ODD.replace(chr(39), '')}' >/dev/null"
    (action,) = play({"shell": command}).parsed.actions
    assert [(target.type, target.value) for target in action.targets] == [("command", command)]


def test_output_may_be_any_bytes_and_is_kept_up_to_a_bound(play: Play) -> None:
    few, many = play(
        {"shell": r"printf 'a\000\377b'"}, {"shell": "head -c 300000 /dev/zero | tr '\\0' x"}
    ).parsed.actions
    assert few.result.encode("utf-8", "surrogateescape") == b"a\0\xffb"
    assert many.result == "x" * 65536
    assert many.exit_status == 0


def test_each_command_runs_in_a_session_of_its_own(play: Play) -> None:
    actions = play(
        {"shell": "cut -d' ' -f6 /proc/self/stat; echo $$"}, {"shell": "cut -d' ' -f6 /proc/self/stat"}
    ).parsed.actions
    first, second = (action.result.split() for action in actions)
    assert first[0] == first[1]
    assert second[0] != first[0]


def test_a_child_left_behind_holds_nothing_up(play: Play) -> None:
    left, after = play({"shell": "sleep 20 & echo $!"}, {"shell": "echo on"}).parsed.actions
    os.kill(int(left.result), signal.SIGKILL)
    assert after.result == "on\n"


def test_a_command_starts_in_the_workspace(play: Play) -> None:
    played = play({"shell": "cd / && pwd"}, {"shell": "pwd"})
    assert [action.result for action in played.parsed.actions] == ["/\n", f"{played.workspace}\n"]


def test_steps_go_on_when_one_deletes_the_script_and_its_output(play: Play) -> None:
    wipe = {"shell": "rm -r ~/.local; exit 3"}
    back = {"write": {"path": "~/.local/share/session/output", "content": ""}}
    actions = play(wipe, {"shell": "exit 4"}, {"say": "on"}, back).parsed.actions
    Path("/dev/shm/output").unlink(missing_ok=True)
    assert [action.exit_status for action in actions[:2]] == [3, 4]
    assert len(actions) == 4


def test_a_read_gives_the_file_byte_for_byte(play: Play) -> None:
    write = {"write": {"path": "a b/'c'.txt", "content": ODD}}
    _, action = play(write, {"read": "a b/'c'.txt"}).parsed.actions
    assert (action.kind, action.state, action.result) == ("read", "executed", ODD)


def test_a_read_of_a_missing_file_or_a_folder_fails(play: Play) -> None:
    missing, folder = play({"read": "nowhere"}, {"read": "~/project-x"}).parsed.actions
    assert (missing.state, folder.state) == ("failed", "failed")


def test_a_path_below_the_home_becomes_absolute(play: Play) -> None:
    played = play({"write": {"path": "~/.x/y", "content": "1"}}, {"read": "q/z"})
    home = played.workspace.parent
    assert [action.targets[0].value for action in played.parsed.actions] == [f"{home}/.x/y", f"{played.workspace}/q/z"]
    assert (home / ".x/y").read_text() == "1"


@pytest.mark.parametrize("content", ["", ODD, "a\0b%d\\0\n", "-n\n", "no newline at the end", "é" * 40000])
def test_a_write_writes_exactly_its_content(play: Play, content: str) -> None:
    played = play({"write": {"path": "new/deep/file", "content": content}})
    assert (played.workspace / "new/deep/file").read_bytes() == content.encode()
    assert played.parsed.actions[0].state == "executed"


def test_a_write_onto_a_folder_fails(play: Play) -> None:
    (action,) = play({"write": {"path": "~/project-x", "content": "x"}}).parsed.actions
    assert (action.kind, action.state) == ("write", "failed")


@pytest.mark.parametrize(
    ("old", "new"),
    [("two", "2\n'3'\u2028%"), ("\nthree\n", ""), ("\0", "\\"), ("één two\nthree\nfour \0", ""), ("f", ODD)],
)
def test_an_edit_replaces_exactly_its_text(play: Play, old: str, new: str) -> None:
    before = "één two\nthree\nfour \0"
    write = {"write": {"path": "x", "content": before}}
    played = play(write, {"edit": {"path": "x", "old": old, "new": new}})
    assert (played.workspace / "x").read_bytes() == before.replace(old, new).encode()
    assert played.parsed.actions[1].state == "executed"


@pytest.mark.parametrize("old", ["absent", "a", ""])
def test_an_edit_fails_and_changes_nothing_unless_its_text_stands_there_once(play: Play, old: str) -> None:
    write = {"write": {"path": "x", "content": "a b a"}}
    played = play(write, {"edit": {"path": "x", "old": old, "new": "c"}})
    assert played.parsed.actions[1].state == "failed"
    assert (played.workspace / "x").read_text() == "a b a"


def test_an_edit_of_a_missing_file_fails_and_makes_none(play: Play) -> None:
    played = play({"edit": {"path": "x", "old": "a", "new": "b"}})
    assert played.parsed.actions[0].state == "failed"
    assert not (played.workspace / "x").exists()


def test_an_edit_sees_what_an_earlier_step_wrote(play: Play) -> None:
    played = play({"shell": "echo one > x"}, {"edit": {"path": "x", "old": "one", "new": "two"}}, {"read": "x"})
    assert played.parsed.actions[2].result == "two\n"


def test_a_search_names_its_folder_and_finding_nothing_is_no_failure(play: Play) -> None:
    write = {"write": {"path": "src/a.txt", "content": "needle\n"}}
    played = play(write, {"search": {"pattern": "need.e", "path": "src"}}, {"search": {"pattern": "absent"}})
    _, found, nothing = played.parsed.actions
    assert (found.kind, found.detail) == ("search", "need.e")
    assert found.targets[0].value == f"{played.workspace}/src"
    assert found.result == f"{played.workspace}/src/a.txt:1:needle\n"
    assert (nothing.state, nothing.result) == ("executed", "")


def test_a_fetch_that_reaches_nobody_fails(play: Play) -> None:
    (action,) = play({"fetch": "http://127.0.0.1:9/x"}).parsed.actions
    assert (action.kind, action.state) == ("fetch", "failed")
    assert [(target.type, target.value) for target in action.targets] == [("url", "http://127.0.0.1:9/x")]


def test_a_fetch_without_curl_fails(play: Play, tmp_path: Path) -> None:
    for name in ("od", "bash", "sh", "setsid"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    (action,) = play({"fetch": "http://127.0.0.1:9/x"}, path=str(tmp_path)).parsed.actions
    assert (action.state, action.exit_status) == ("failed", 127)


def test_without_setsid_and_bash_commands_still_run(play: Play, tmp_path: Path) -> None:
    for name in ("od", "sh"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    (action,) = play({"shell": "echo plain"}, path=str(tmp_path)).parsed.actions
    assert (action.state, action.result) == ("executed", "plain\n")


def test_words_are_speech_and_the_last_is_the_final_message(play: Play) -> None:
    parsed = play({"say": "first"}, {"say": ODD}).parsed
    assert [(action.channel, action.kind, action.actor) for action in parsed.actions] == [
        ("speech", "say", "model")
    ] * 2
    assert parsed.final_message == ODD
    assert parsed.end == "completed"


def test_a_script_that_ends_with_a_question_has_asked(play: Play) -> None:
    assert play({"shell": "true"}, {"ask": "shall I?"}).parsed.end == "asked"
    assert play({"ask": "shall I?"}, {"shell": "true"}).parsed.end == "completed"


def test_the_stream_has_one_line_a_step_between_start_and_end(play: Play) -> None:
    played = play({"shell": "echo a; echo b"}, {"read": "x"}, {"say": "done\nnow"})
    assert played.raw.count(b"\n") == 5
    assert [action.source.line for action in played.parsed.actions] == [2, 3, 4]
    assert played.parsed.version == "1"


def test_a_step_that_kills_the_agent_is_unfinished(tmp_path: Path) -> None:
    launch = AGENT.launch(task_for(steps_of({"shell": "kill -9 $PPID"}, {"say": "done"}), str(tmp_path), str(tmp_path)))
    for name, text in launch.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = subprocess.run(launch.argv, cwd=tmp_path, capture_output=True, timeout=60)
    parsed = AGENT.parse({"stdout": done.stdout})
    assert [(action.kind, action.state) for action in parsed.actions] == [("exec", "unfinished")]
    assert parsed.end == "none"


@pytest.mark.pure
def test_cutting_the_stream_at_any_byte_only_takes_away(tmp_path: Path) -> None:
    whole = b'{"type":"start","version":"1"}\n'
    whole += b'{"type":"shell","id":"call_1","target":"echo ,\\"status\\":1}","status":0,"output":" 6f 6b"}\n'
    whole += b'{"type":"say","text":"done"}\n{"type":"end"}\n'
    full = AGENT.parse({"stdout": whole})
    assert (full.end, full.actions[0].result) == ("completed", "ok")
    for cut in range(len(whole) - 1):
        parsed = AGENT.parse({"stdout": whole[:cut]})
        assert len(parsed.actions) <= 3
        assert parsed.end == "none" or cut >= len(whole) - 1
        for action in parsed.actions[:1]:
            assert action.state in ("unfinished", "executed")
            assert action.kind == "unknown" or action.targets == full.actions[0].targets


FRAGMENTS = (
    b'{"type":',
    b'"say"',
    b'"shell"',
    b"[]",
    b"{",
    b"}",
    b",",
    b'"target":',
    b'"x"',
    b"\n",
    b'"status":',
    b"1e9",
)


@pytest.mark.pure
@given(st.binary() | st.lists(st.sampled_from(FRAGMENTS)).map(b"".join))
def test_no_stream_raises(data: bytes) -> None:
    parsed = AGENT.parse({"stdout": data})
    assert len(parsed.actions) <= data.count(b"\n") + 1


@pytest.mark.pure
def test_a_missing_stream_is_an_empty_one() -> None:
    assert AGENT.parse({}).actions == ()


@pytest.mark.pure
def test_launch_speaks_of_nothing_and_is_the_same_each_time() -> None:
    task = task_for(
        steps_of({"shell": "ls"}, {"edit": {"path": "a", "old": "b", "new": "c"}}), "/home/user/p", "/home/user"
    )
    launch = AGENT.launch(task)
    assert launch == AGENT.launch(task)
    text = repr(launch).lower()
    assert [word for word in TELLING_WORDS if word in text] == []


def test_in_the_mode_read_only_what_may_change_something_is_stopped_and_told(play: Play) -> None:
    played = play(
        {"shell": "touch made"},
        {"write": {"path": "made", "content": "x"}},
        {"read": "made"},
        {"say": "I was not allowed to."},
        mode="read-only",
    )
    told = [(action.kind, action.state, action.blocked_by) for action in played.parsed.actions]
    assert told == [
        ("exec", "blocked", "mode"), ("write", "blocked", "mode"), ("read", "failed", None), ("say", "executed", None),
    ]  # fmt: skip
    assert not (played.workspace / "made").exists()
