"""How a sandbox ends: nothing in it outlives it, whoever is killed, and what is told of the end is true."""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from overeager.contract.effects import Room, Started
from overeager.errors import OvereagerError
from overeager.run.stage import Stage
from overeager.store.room import sweep
from sandbox_kit import PROJECT, USERS, During, become, find_processes, in_child, play, until

pytestmark = pytest.mark.sandbox


def _name() -> str:
    return f"9{secrets.randbelow(10**9):09d}"


def _crowd(name: str) -> str:
    """Children that try to outlive their shell in every usual way; `name` is seconds to sleep, and marks them."""
    return (
        f"setsid sleep {name} & nohup sleep {name} >/dev/null 2>&1 & (trap '' TERM HUP INT; sleep {name}) &\n"
        f"(sleep {name} & ) &\n"
        f"python3 -c 'import os,time; os.fork() or (os.setsid(), os.fork() or time.sleep({name}))' &\n"
    )


def _settled(name: str) -> bool:
    return len(find_processes(name)) >= 5


@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "no-kernel"])
@pytest.mark.parametrize("user", USERS)
def test_late_children_are_dead_when_wait_returns(user: str, kernel: bool) -> None:
    name = _name()
    script = _crowd(name) + f"(setsid sh -c 'sleep 0.3; rm -f {PROJECT}/f' &) ; sleep 0.2; exit 5"

    played = play(script, files={"f": ""}, user=user, kernel=kernel, during=lambda *_: until(lambda: _settled(name)))
    assert played.finished.exit_status == 5
    assert played.noted
    assert find_processes(name) == []


@pytest.mark.parametrize("why", ["time", "room", "stop"])
def test_stop_kills_everything_and_says_why(why: str) -> None:
    name = _name()

    def stop(stage: Stage, started: Started, room: Room) -> object:
        assert until(lambda: _settled(name))
        stage.stop(why)
        stage.stop("again")
        return None

    played = play(_crowd(name) + f"sleep {name}", during=stop)
    assert (played.finished.killed, played.finished.auditor_lost) == (why, False)
    assert played.finished.kernel.state == "present"
    assert find_processes(name) == []


def test_a_stop_before_the_go_ends_the_sandbox_too() -> None:
    name = _name()
    played = play(f"sleep {name}", during=lambda stage, *_: stage.stop("stop"))
    assert played.finished.killed == "stop"
    assert find_processes(name) == []


def test_a_stop_after_the_end_changes_nothing() -> None:
    def late(stage: Stage, started: Started, room: Room) -> object:
        assert until(lambda: not Path(f"/proc/{started.pid}").exists())
        stage.stop("time")
        return None

    played = play("exit 4", during=late)
    assert (played.finished.exit_status, played.finished.killed) == (4, "")


@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "no-kernel"])
@pytest.mark.parametrize("user", USERS)
def test_a_killed_auditor_takes_the_sandbox_with_it_and_is_reported(user: str, kernel: bool) -> None:
    name = _name()

    def kill(stage: Stage, started: Started, room: Room) -> object:
        assert until(lambda: _settled(name))
        os.kill(_auditor_of(started.pid), signal.SIGKILL)
        return None

    played = play(_crowd(name) + f"sleep {name}", user=user, kernel=kernel, during=kill)
    assert played.finished.auditor_lost
    assert played.finished.killed == ""
    assert find_processes(name) == []


def _auditor_of(first: int) -> int:
    """The grandparent of the first process inside."""
    return _parent(_parent(first))


def _parent(pid: int) -> int:
    """0 = the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(text.rpartition(")")[2].split()[1])


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("moment", ["before the go", "while it runs"])
def test_a_killed_trial_process_leaves_nothing_alive(user: str, moment: str) -> None:
    name = _name()

    def die(stage: Stage, started: Started, room: Room) -> object:
        if moment == "while it runs":
            assert until(lambda: _settled(name))
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    with pytest.raises(AssertionError, match="died without a word"):
        _play_or_hold(_crowd(name) + f"sleep {name}", user, die, hold=moment == "before the go")
    assert until(lambda: find_processes(name) == [])
    in_child(lambda: (become(user), sweep(None)))


def _play_or_hold(script: str, user: str, during: During, *, hold: bool) -> None:
    if hold:
        original = Stage.go
        Stage.go = lambda self: None  # type: ignore[method-assign]  # the agent is never let go
        try:
            play(script, user=user, during=during)
        finally:
            Stage.go = original  # type: ignore[method-assign]
    else:
        play(script, user=user, during=during)


def test_a_killed_outer_process_ends_everything() -> None:
    name = _name()

    def kill(stage: Stage, started: Started, room: Room) -> object:
        assert until(lambda: _settled(name))
        os.kill(_parent(started.pid), signal.SIGKILL)
        return None

    for kernel in (True, False):
        played = play(_crowd(name) + f"sleep {name}", during=kill, kernel=kernel)
        assert played.finished.exit_status is None
        assert "ended before the agent" in played.finished.detail
        assert find_processes(name) == []


def test_an_agent_that_a_signal_ends_leaves_with_128_and_the_signal() -> None:
    assert play("kill -SEGV $$").finished.exit_status == 139
    assert play("kill -9 $$").finished.exit_status == 137


def test_an_agent_that_is_not_there_leaves_with_127() -> None:
    played = play(["/usr/local/bin/nobody-home"])
    assert (played.finished.exit_status, played.finished.killed) == (127, "")


def test_ctrl_c_on_the_terminal_is_the_trial_processs_alone() -> None:
    """The auditor and the sandbox have sessions of their own."""

    def sessions(stage: Stage, started: Started, room: Room) -> object:
        return [os.getsid(0), os.getsid(_auditor_of(started.pid)), os.getsid(_parent(started.pid))]

    noted = play("true", during=sessions).noted
    assert isinstance(noted, list)
    assert len(set(noted)) == 3


def test_no_descriptor_and_no_child_is_left_in_the_trials_process() -> None:
    def work() -> object:
        before = {entry.name for entry in Path("/proc/self/fd").iterdir()}
        for _ in range(2):
            inner()
        return before ^ {entry.name for entry in Path("/proc/self/fd").iterdir()}, _children()

    inner: Callable[[], object] = lambda: _play_here("true")  # noqa: E731  # a name for two calls
    assert in_child(work) == (set(), [])


def _children() -> list[int]:
    return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and _parent(int(p.name)) == os.getpid()]


def _play_here(script: str) -> None:
    """As `play`, without a child of its own."""
    import sandbox_kit

    original = sandbox_kit.in_child
    sandbox_kit.in_child = lambda work: work()
    try:
        play(
            script,
            ports=(80,),
            during=lambda stage, started, room: [entry.socket.close() for entry in started.listeners] and None,
        )
    finally:
        sandbox_kit.in_child = original


def test_a_failing_sandbox_says_what_bubblewrap_said() -> None:
    from overeager.contract.effects import Mount

    def nowhere(room: Room) -> tuple[Mount, ...]:
        (room.root / "x").touch()
        return (Mount(room.root / "x", "/usr/no/such/folder/x"),)

    with pytest.raises(OvereagerError, match="could not be built: bwrap:") as caught:
        play("true", prepare=nowhere)
    assert caught.value.code == "SBX006"


def test_a_mount_without_a_source_is_refused_by_name() -> None:
    from overeager.contract.effects import Mount

    with pytest.raises(OvereagerError, match="/usr/local/lib/agent does not exist") as caught:
        play("true", prepare=lambda room: (Mount(room.root / "missing", "/usr/local/lib/agent"),))
    assert caught.value.code == "SBX003"


def test_a_port_that_is_claimed_twice_is_refused() -> None:
    with pytest.raises(OvereagerError, match="port 80") as caught:
        play("true", ports=(80, 80))
    assert caught.value.code == "SBX005"


def test_a_trial_beside_threads_is_refused() -> None:
    import threading

    def work() -> object:
        release = threading.Event()
        threading.Thread(target=release.wait, daemon=True).start()
        try:
            return _play_here("true")
        finally:
            release.set()

    with pytest.raises(OvereagerError) as caught:
        in_child(work)
    assert caught.value.code == "AUD001"


def test_killing_at_a_random_moment_never_leaves_a_process() -> None:
    for _ in range(10):
        name = _name()
        delay = secrets.randbelow(60) / 1000

        def kill(stage: Stage, started: Started, room: Room, delay: float = delay) -> object:
            auditor = _auditor_of(started.pid)
            time.sleep(delay)
            os.kill(auditor, signal.SIGKILL)
            return None

        played = play(_crowd(name) + f"sleep {name}", during=kill)
        assert played.finished.auditor_lost
        assert find_processes(name) == []
