"""The container sandbox, by a real engine: what is inside, what is recorded, and how it ends."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

import docker_kit
import sandbox_kit
from overeager.contract.effects import Limits, Mount, Room, Started
from overeager.errors import OvereagerError
from overeager.run.container import ContainerStage
from overeager.run.container_limits import NAMES, try_limits
from overeager.sandbox import docker as containers
from overeager.sandbox.docker_engine import connect
from overeager.sandbox.identity import choose_identity
from overeager.store.room import sweep
from sandbox_kit import (
    PROJECT,
    SHIMMED,
    USERS,
    Played,
    find_processes,
    in_child,
    make_container_equipment,
    play,
    until,
)

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module", autouse=True)
def engine() -> str:
    return docker_kit.shared_daemon().address


def enter(script: str, **options: object) -> Played:
    return play(script, sandbox="docker", **options)  # type: ignore[arg-type]  # the kit's own


def name_processes() -> str:
    return f"9{secrets.randbelow(10**9):09d}"


@pytest.mark.parametrize("user", USERS)
def test_the_agent_is_an_ordinary_user_without_any_power(user: str) -> None:
    played = enter("id -u; id -un; grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; pwd", user=user)
    uid, name, *lines, folder = played.stdout.split("\n")[:-1]
    assert int(uid) >= 1000
    assert (name, folder) == ("user", PROJECT)
    facts = dict(line.split(":\t") for line in lines)
    assert {int(facts[cap], 16) for cap in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")


def test_only_home_and_temporary_folders_can_be_written() -> None:
    script = """
    for place in / /usr /usr/bin /usr/local/bin /etc /home /var /opt /run /run/systemd /proc/sys/vm/swappiness /sys; do
      touch $place/x 2>/dev/null && echo "$place"
      [ ! -f $place ] || { echo x >$place && echo "$place"; } 2>/dev/null
    done
    for place in $HOME /tmp /dev/shm .; do touch $place/x && echo "$place"; done"""
    assert enter(script).stdout.split() == ["/home/user", "/tmp", "/dev/shm", "."]


def test_nothing_but_the_opened_ports_is_reached() -> None:
    script = """
    cut -d: -f1 -s /proc/net/dev
    exec 3<>/dev/tcp/127.0.0.1/80 && cat <&3
    for to in 127.0.0.1/81 192.0.2.1/80 10.0.0.1/53; do (exec 3<>/dev/tcp/$to) 2>/dev/null && echo "$to"; done
    true"""

    def answer(stage: object, started: Started, room: Room) -> object:
        connection, _ = started.listeners[0].socket.accept()
        connection.sendall(b"hello\n")
        connection.close()
        return started.listeners[1].socket.getsockname()

    played = play(("/bin/bash", "-c", script), sandbox="docker", ports=(80, 8080), during=answer)
    assert played.stdout.split() == ["lo", "hello"]
    assert played.noted == ("127.0.0.1", 8080)
    assert any(":80" in str(record) for record in played.calls("connect"))


@pytest.mark.parametrize("user", USERS)
def test_what_the_agent_makes_is_there_and_is_the_rooms_users(user: str) -> None:
    def look(stage: object, started: Started, room: Room) -> object:
        made = room.home / "project-x" / "made"
        assert until(made.exists)
        return made.stat().st_uid == room.home.stat().st_uid

    assert enter("echo x >made; sleep 0.5", user=user, during=look).noted is True


def test_environment_and_descriptors_are_exactly_the_given_ones() -> None:
    played = play(
        ("/bin/bash", "-c", "env; ls -l /proc/self/fd"), sandbox="docker", environment={"A": "1", "PATH": "/bin"}
    )
    lines = [line for line in played.stdout.splitlines() if not line.startswith(("PWD=", "SHLVL=", "_="))]
    assert lines[:2] == ["A=1", "PATH=/bin"]
    assert [line.split(" -> ")[1].split(":")[0] for line in lines[3:]] == [
        "/dev/null",
        "pipe",
        "pipe",
        lines[-1].split(" -> ")[1],
    ]


def test_the_hosts_names_and_servers_are_not_told() -> None:
    played = enter(
        "hostname; cat /etc/hosts /etc/hostname /etc/resolv.conf /proc/self/mountinfo", hosts=("shop.example",)
    )
    assert played.stdout.startswith("devbox\n")
    assert "127.0.0.1\tshop.example" in played.stdout
    assert socket.gethostname() not in played.stdout


FORMS = (
    "rm f1",
    "/bin/rm f2",
    "/usr/bin/rm f3",
    "env -i rm f4",
    "bash -lc 'rm f5'",
    "exec -a other rm f6",
    "xargs rm <f7",
)


@pytest.mark.parametrize("user", USERS)
def test_every_way_to_call_a_command_leaves_its_record_in_both_channels(user: str) -> None:
    files = {f"f{number}": f"f{number}" for number in range(1, 8)}
    played = play(
        ("/bin/bash", "-c", "\n".join(f"({form})" for form in FORMS)), files=files, user=user, sandbox="docker"
    )
    assert played.stderr == ""
    removed = {record["argv"][-1] for record in played.shim if record["command"] == "rm"}
    assert removed == set(files)
    assert {path for record in played.calls("unlinkat") for path in record["paths"]} == {
        f"{PROJECT}/{f}" for f in files
    }
    # A shim's record is of the process that the kernel channel saw.
    assert {record["pid"] for record in played.shim} <= {record["pid"] for record in played.calls("execve")}


@pytest.mark.parametrize("user", USERS)
def test_what_no_shim_meets_is_seen_by_the_kernel_channel(user: str) -> None:
    script = """
    : >emptied; while read line; do :; done <secret; python3 -c 'import os; os.remove("one")'
    /opt/busybox rm two; perl -e 'unlink "three"'; (exec 3<>/dev/tcp/192.0.2.1/25) 2>/dev/null; exit 7"""
    files = dict.fromkeys(("emptied", "secret", "one", "two", "three"), "x")
    played = play(
        ("/bin/bash", "-c", script), files=files, user=user, sandbox="docker",
        prepare=lambda room: (Mount(Path(shutil.which("busybox") or "/bin/busybox"), "/opt/busybox"),),
    )  # fmt: skip
    assert played.finished.kernel.state == "present"
    assert played.finished.exit_status == 7
    opened = {path for record in played.calls("open") for path in record["paths"]}
    assert {f"{PROJECT}/emptied", f"{PROJECT}/secret"} <= opened
    gone = {path for name in ("unlink", "unlinkat") for record in played.calls(name) for path in record["paths"]}
    assert {f"{PROJECT}/{name}" for name in ("one", "two", "three")} <= gone
    assert any("192.0.2.1" in str(record) for record in played.calls("connect"))


@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "no-kernel"])
@pytest.mark.parametrize("user", USERS)
def test_late_children_are_dead_when_wait_returns(user: str, kernel: bool) -> None:
    name = name_processes()
    late = f"setsid sleep {name} & nohup sleep {name} >/dev/null & (trap '' TERM HUP; sleep {name}) & (sleep {name} &)"
    played = enter(f"{late}; sleep 0.3; exit 5", user=user, kernel=kernel)
    assert played.finished.exit_status == 5
    assert find_processes(name) == []


def test_stop_kills_everything_and_says_why() -> None:
    name = name_processes()

    def stop(stage: ContainerStage, started: Started, room: Room) -> object:
        assert until(lambda: len(find_processes(name)) >= 2)
        stage.stop("time")
        stage.stop("again")
        return None

    played = enter(f"sleep {name} & sleep {name}", during=stop)
    assert (played.finished.killed, played.finished.exit_status) == ("time", None)
    assert find_processes(name) == []


@pytest.mark.parametrize("user", USERS)
def test_a_killed_auditor_takes_the_container_with_it_and_is_reported(user: str) -> None:
    name = name_processes()

    def kill(stage: ContainerStage, started: Started, room: Room) -> object:
        assert until(lambda: find_processes(name) != [])
        assert stage._audit.auditor is not None
        os.kill(stage._audit.auditor.pid, signal.SIGKILL)
        return None

    played = enter(f"setsid sleep {name} & sleep {name}", user=user, during=kill)
    assert played.finished.auditor_lost
    assert find_processes(name) == []


@pytest.mark.parametrize("moment", ["before the go", "while it runs"])
def test_a_killed_trial_process_leaves_no_container(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = name_processes()

    def die(stage: ContainerStage, started: Started, room: Room) -> object:
        assert moment == "before the go" or until(lambda: find_processes(name) != [])
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    if moment == "before the go":
        monkeypatch.setattr(ContainerStage, "go", lambda self: None)
    with pytest.raises(AssertionError, match="died without a word"):
        enter(f"setsid sleep {name} & sleep {name}", during=die)
    assert until(lambda: find_processes(name) == [])
    assert until(lambda: list_containers() == [])
    in_child(lambda: sweep(None))


def list_containers() -> list[str]:
    """Those that live or could; what has ended and the engine was too busy to remove is left to gc."""
    rig = make_container_equipment(USERS[0])
    with connect(rig.engine) as client:  # type: ignore[union-attr]  # it is a container rig
        return [str(one["Id"]) for one in client.containers(filters={"status": ["created", "running", "paused"]})]


def test_no_container_lives_when_its_agent_has_ended() -> None:
    enter("true")
    assert until(lambda: list_containers() == [])


def test_the_first_process_cannot_be_touched_from_inside() -> None:
    script = """import ctypes, os
for what in ("environ", "mem", "fd/0"):
    try:
        open(f"/proc/1/{what}", "rb"); print(what)
    except OSError:
        pass
print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))
os.kill(1, 9); os.kill(1, 15); print("alive")"""
    assert play(("/usr/bin/python3", "-c", script), sandbox="docker").stdout.split() == ["-1", "alive"]


@pytest.mark.parametrize(("script", "status"), [("kill -9 $$", 137), ("exit 3", 3), ("exec /nowhere 2>/dev/null", 127)])
def test_the_agents_status_is_told(script: str, status: int) -> None:
    assert enter(script).finished.exit_status == status


def test_a_pipe_as_stdin_is_read_and_dev_null_is_the_rule() -> None:
    assert enter("head -1", stdin=b"spoken\n").stdout == "spoken\n"
    assert enter("cat; echo end").stdout == "end\n"


def test_much_output_arrives_whole() -> None:
    assert len(enter("head -c 3000000 /dev/zero | tr '\\0' x").stdout) == 3_000_000


def test_without_channels_nothing_is_recorded_and_the_health_says_so() -> None:
    played = enter("rm f", files={"f": ""}, shims=False, kernel=False)
    assert (played.finished.kernel.state, played.finished.shim.state) == ("absent", "absent")


def test_a_process_that_takes_too_much_memory_is_killed_and_the_trial_goes_on() -> None:
    script = "dd if=/dev/zero of=/dev/null bs=300M count=1 2>/dev/null; echo $?"
    assert enter(script, limits=Limits(seconds=60, memory_bytes=128 << 20)).stdout == "137\n"


def test_a_bomb_of_processes_ends_at_the_limit() -> None:
    script = "i=0; while [ $i -lt 100 ]; do sleep 60 & i=$((i+1)); done; echo all"
    played = enter(script, limits=Limits(seconds=60, processes=30))
    assert "all" not in played.stdout
    assert len(played.calls("execve")) < 31


def test_every_limit_is_kept_and_tried_from_inside() -> None:
    rig = make_container_equipment(USERS[0])
    assert in_child(lambda: try_limits(rig, choose_identity())) == ()  # type: ignore[arg-type]


def test_limits_that_an_engine_ignores_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = make_container_equipment(USERS[0])
    monkeypatch.setattr(containers, "bounds", lambda limits, engine: {})
    assert in_child(lambda: try_limits(rig, choose_identity())) == NAMES  # type: ignore[arg-type]


def test_a_refused_container_says_what_the_engine_said() -> None:
    rig = make_container_equipment(USERS[0])

    def refuse(room: Room) -> tuple[Mount, ...]:
        return (Mount(room.home, "/etc/hosts"),)  # a folder over a file

    with pytest.raises(OvereagerError, match="SBX022 the engine refused"):
        enter("true", prepare=refuse)
    assert until(lambda: list_containers() == [])
    assert rig is not None


def test_a_port_that_is_claimed_twice_is_refused() -> None:
    with pytest.raises(OvereagerError, match=r"SBX005.*Address already in use"):
        enter("true", ports=(8080, 8080))
    assert until(lambda: list_containers() == [])


def test_no_descriptor_and_no_child_is_left_in_the_trials_process(monkeypatch: pytest.MonkeyPatch) -> None:
    make_container_equipment(USERS[0])

    def trials() -> tuple[list[set[str]], list[str]]:
        held = []
        for _ in range(3):
            enter("true")
            held.append({entry.name for entry in Path("/proc/self/fd").iterdir()})
        return held, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()

    play_in_child = sandbox_kit.in_child
    monkeypatch.setattr(sandbox_kit, "in_child", lambda work: work())
    held, children = play_in_child(trials)
    assert held[1] == held[2]
    assert children == []


def test_the_shims_stand_over_the_programs_of_the_image() -> None:
    rig = make_container_equipment(USERS[0])
    names = {mount.target.rpartition("/")[2] for mount in rig.shim_mounts}
    assert {name for name in SHIMMED if name != "python3"} <= names
    assert any(name.startswith("python3.") for name in names)


def test_ptrace_of_this_test_is_the_libcs() -> None:
    """So that the test above tries what it says: 16 is PTRACE_ATTACH, and our own child may be attached to."""
    child = subprocess.Popen(["sleep", "30"])
    try:
        assert ctypes.CDLL(None).ptrace(16, child.pid, 0, 0) == 0
    finally:
        child.kill()
        child.wait()
