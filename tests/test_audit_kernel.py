"""The kernel channel: what it records of real programs, whatever they are written in."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from overeager.audit.kernel import seccomp
from overeager.audit.kernel.memory import Gone
from overeager.audit.kernel.target import Targets
from overeager.contract.effects import Mount, Room
from sandbox_kit import PROJECT, USERS, Played, Record, play

pytestmark = pytest.mark.sandbox

F = f"{PROJECT}/f"
WRITES = os.O_WRONLY | os.O_RDWR


def _removed(played: Played) -> list[Record]:
    return played.calls("unlink", F) + played.calls("unlinkat", F)


def _read(played: Played) -> list[Record]:
    return [record for record in played.calls("open", F) if not record["flags"] & WRITES]


def _written(played: Played) -> list[Record]:
    return [record for record in played.calls("open", F) if record["flags"] & WRITES]


BYPASSES: dict[str, tuple[str, Callable[[Played], list[Record]]]] = {
    "a program by its path": ("/bin/rm f", _removed),
    "command": ("command rm f", _removed),
    "Python's own removal": ("python3 -c 'import os; os.remove(\"f\")'", _removed),
    "Perl's own removal": ("perl -e 'unlink \"f\"'", _removed),
    "find": ("find . -name f -delete", _removed),
    "a truncating redirection": (": > f", _written),
    "an appending redirection": ("echo x >> f", _written),
    "a reading redirection": ("while read line; do echo $line; done < f", _read),
    "Python's own reading": ("python3 -c 'open(\"f\").read()'", _read),
    "sed in place": ("sed -i s/a/b/ f", lambda played: [r for r in played.kernel if F in r.get("paths", [None])[-1:]]),
}


@pytest.mark.parametrize("form", BYPASSES)
def test_the_kernel_channel_sees(form: str) -> None:
    script, look = BYPASSES[form]
    played = play(script, files={"f": "a\n"}, shims=False)
    found = look(played)
    assert found, (played.stderr, played.kernel[-20:])
    assert found[0]["found"] is True
    device, inode = found[0]["inode"].split(":")
    assert device.isdigit()
    assert inode.isdigit()


@pytest.mark.parametrize("user", USERS)
def test_a_static_program_is_seen_for_every_kind_of_user(user: str) -> None:
    """No loader, no libc of the system's: nothing that could be preloaded."""
    played = play(["/usr/local/libexec/tool", "f"], files={"f": "a"}, prepare=_static_remover, user=user)
    assert played.finished.exit_status == 0, played.stderr
    assert len(_removed(played)) == 1
    assert not [record for record in played.kernel if "error" in record]


def _static_remover(room: Room) -> tuple[Mount, ...]:
    compiler = shutil.which("cc")
    source = room.root / "tool.c"
    source.write_text("#include <unistd.h>\nint main(int n, char **v) { return n > 1 ? unlink(v[1]) : 2; }\n")
    command = [compiler] if compiler else ["python3", "-m", "ziglang", "cc", "-target", "x86_64-linux-musl"]
    program = room.root / "tool"
    subprocess.run([*command, "-static", "-o", program, source], check=True)
    program.chmod(0o755)
    return (Mount(program, "/usr/local/libexec/tool"),)


def test_connects_are_recorded_with_their_addresses() -> None:
    script = (
        "import socket\n"
        "for family, address in ((2, ('127.0.0.1', 9)), (10, ('::1', 53)), (1, '/run/x'), (1, '\\0abstract')):\n"
        "    try: socket.socket(family).connect(address)\n"
        "    except OSError: pass\n"
        "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', 5353))\n"
    )
    played = play(["/usr/bin/python3", "-c", script])
    addresses = [record["address"] for record in played.calls("connect")]
    assert addresses == ["127.0.0.1:9", "[::1]:53", "unix:/run/x", "unix:@abstract"]
    assert [record["address"] for record in played.calls("sendto")] == ["127.0.0.1:5353"]


def test_the_kernel_channel_tells_every_exit_status() -> None:
    played = play("sh -c 'exit 7'; /bin/false; (exit 300); exit 42")
    assert [record["code"] for record in played.calls("exit_group")][:4] == [7, 1, 44, 42]
    assert played.finished.exit_status == 42


def test_a_command_line_is_whole_and_says_where_it_comes_from() -> None:
    played = play("env -i A=1 sh -c 'true; : \"$1\"' name 'with \" quotes' ; true")
    (run,) = [record for record in played.calls("execve") if record["argv"][:2] == ["sh", "-c"]]
    assert run["argv"] == ["sh", "-c", 'true; : "$1"', "name", 'with " quotes']
    assert (run["cut"], run["comm"], run["found"]) == (0, "env", True)
    first = next(record for record in played.kernel if record.get("first") and record["pid"] == run["pid"])
    assert first["ppid"] == played.kernel[0]["pid"]
    assert first["exe"] == "/usr/bin/dash" or first["exe"].endswith("sh")


def test_a_long_command_line_is_cut_and_counted() -> None:
    played = play(["/usr/bin/python3", "-c", "import os; os.execv('/bin/true', ['true'] + ['a' * 100] * 5000)"])
    (run,) = [record for record in played.calls("execve") if record["given"] == ["/bin/true"]]
    assert len(run["argv"]) + run["cut"] in (5001, 5002)
    assert run["cut"] > 1000


def test_links_are_resolved_where_the_call_follows_them() -> None:
    played = play("cat link; rm link; ln f hard; cat hard", files={"f": "a"}, prepare=_with_link)
    (read,) = [record for record in played.calls("open", F) if record["given"] == ["link"]]
    (hard,) = played.calls("open", f"{PROJECT}/hard")
    assert read["inode"] == hard["inode"]
    assert played.calls("unlinkat", f"{PROJECT}/link")


def _with_link(room: Room) -> tuple[Mount, ...]:
    (room.home / "project-x").mkdir()
    (room.home / "project-x/link").symlink_to("f")
    return ()


def test_a_move_and_a_link_have_two_paths() -> None:
    played = play("mv f g; ln g h; mkdir -m 700 d; mv g d/; chmod 600 d/g; mv nothing x", files={"f": "a"})
    moves = [record["paths"] for record in played.kernel if record["call"].startswith("rename")]
    assert [F, f"{PROJECT}/g"] in moves
    assert [f"{PROJECT}/g", f"{PROJECT}/d/g"] in moves
    links = [record["paths"] for record in played.kernel if record["call"].startswith("link")]
    assert [f"{PROJECT}/g", f"{PROJECT}/h"] in links
    (made,) = [record for record in played.kernel if record["call"].startswith("mkdir")]
    assert (made["flags"], made["found"]) == (0o700, False)
    (mode,) = [record for record in played.kernel if record["call"].endswith("chmodat")]
    assert (mode["paths"], mode["flags"]) == ([f"{PROJECT}/d/g"], 0o600)


def test_a_write_through_a_dangling_link_names_the_file_that_it_makes() -> None:
    played = play("echo x > out", prepare=_with_dangling_link)
    (made,) = [record for record in played.calls("open") if record["given"] == ["out"]]
    assert (made["paths"], made["found"]) == ([f"{PROJECT}/below/new"], False)


def _with_dangling_link(room: Room) -> tuple[Mount, ...]:
    (room.home / "project-x/below").mkdir(parents=True)
    (room.home / "project-x/out").symlink_to("below/new")
    return ()


def test_paths_through_the_process_itself_are_put_in_words() -> None:
    played = play("cat < /proc/self/cwd/f; cat /proc/self/environ; cat /dev/stdin < f", files={"f": "a"})
    assert next(record["given"] for record in played.calls("open", F)) == ["/proc/self/cwd/f"]
    (environ,) = [record for record in played.calls("open") if record["given"] == ["/proc/self/environ"]]
    assert environ["paths"][0].startswith("/proc/")
    assert environ["found"] is True


def test_attempts_on_what_is_not_there_are_kept_and_the_search_for_libraries_is_not() -> None:
    played = play("cat /home/user/.ssh/id_rsa; cat /etc/shadow; cat /usr/lib/no-such-library.so; exit 0")
    assert played.calls("open", "/etc/shadow")[0]["found"] is False
    (key,) = [record for record in played.calls("open") if record["given"] == ["/home/user/.ssh/id_rsa"]]
    assert (key["paths"], key["found"]) == ([None], False)
    assert not [record for record in played.calls("open") if "no-such-library" in record["given"][0]]


def test_what_is_written_below_a_system_folder_is_kept_even_when_it_fails() -> None:
    played = play("echo x > /usr/lib/implant.so; exit 0")
    (tried,) = played.calls("open", "/usr/lib/implant.so")
    assert tried["found"] is False


def test_bytes_that_are_no_text_survive() -> None:
    played = play("printf 'x' > \"$(printf 'a\\377b')\"")
    assert played.calls("open", f"{PROJECT}/a\udcffb")


def test_a_nonsense_pointer_gives_a_record_with_its_error_and_no_more() -> None:
    script = (
        "import ctypes; c = ctypes.CDLL(None)\n"
        "c.syscall(2, ctypes.c_void_p(1), 0); c.syscall(59, ctypes.c_void_p(-1), ctypes.c_void_p(8), 0)\n"
        "c.syscall(42, 0, ctypes.c_void_p(-8), 2**31); c.syscall(91, -1, 0)\n"
        "print('alive')\n"
    )
    played = play(["/usr/bin/python3", "-c", script])
    assert played.stdout == "alive\n"
    assert [record["call"] for record in played.kernel if "error" in record] == ["open", "execve", "connect", "fchmod"]
    assert played.finished.kernel.state == "present"


@pytest.mark.parametrize("user", USERS)
def test_a_process_that_hides_itself_is_read_all_the_same(user: str) -> None:
    script = (
        "import ctypes, os; ctypes.CDLL(None).prctl(4, 0)\n"
        "folder = os.open('.', os.O_RDONLY); os.fork() or os._exit(os.remove('f') or 0)\n"
        "os.wait(); os.open('g', os.O_WRONLY | os.O_CREAT, dir_fd=folder)\n"
    )
    played = play(["/usr/bin/python3", "-c", script], files={"f": "a"}, user=user)
    assert played.finished.exit_status == 0, played.stderr
    assert _removed(played)
    assert played.calls("open", f"{PROJECT}/g")
    assert not [record for record in played.kernel if "error" in record]


def test_many_threads_and_processes_are_told_apart() -> None:
    script = (
        "import threading, subprocess\n"
        "def work(n):\n"
        "    for i in range(20): open(f'{n}_{i}', 'w').close()\n"
        "    subprocess.run(['sh', '-c', f': > s{n}'])\n"
        "ts = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]\n"
    )
    played = play(["/usr/bin/python3", "-c", script])
    made = [r for r in played.calls("open") if r["flags"] & os.O_CREAT and r["paths"][0].startswith(PROJECT)]
    assert len(made) == 168
    own = {record["pid"] for record in made if "_" in record["paths"][0]}
    assert len(own) == 1
    assert len({record["pid"] for record in made} - own) == 8


def test_a_number_that_another_process_had_is_looked_at_afresh(tmp_path: Path) -> None:
    """A process that a signal ended is told of by nobody; what was held of it must not be taken for its successor."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    targets = Targets(libc)
    child = os.fork()
    if child == 0:
        signal.pause()
    target = targets.get(child)
    memory, address = targets.memory(target), ctypes.addressof(ctypes.create_string_buffer(b"x"))
    assert targets.is_new(target)
    assert not targets.is_new(target)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with pytest.raises(Gone):
        memory.read(1, address)
    targets.renew(child)
    with pytest.raises(FileNotFoundError):
        targets.get(child)


def test_numbers_run_through_both_channels_and_times_never_go_back() -> None:
    played = play("rm f; cat g; git --version; exit 0", files={"f": "", "g": ""})
    numbers = sorted(record["n"] for record in [*played.kernel, *played.shim])
    assert numbers == list(range(1, len(numbers) + 1))
    merged = sorted([*played.kernel, *played.shim], key=lambda record: record["n"])
    assert [record["t"] for record in merged] == sorted(record["t"] for record in merged)


def test_a_shim_is_joined_to_its_process_by_the_hosts_pid() -> None:
    played = play("rm f; cat g >/dev/null", files={"f": "", "g": ""})
    assert [record["command"] for record in played.shim] == ["rm", "cat"]
    for record in played.shim:
        execs = [r for r in played.kernel if r["pid"] == record["pid"] and r["call"] == "execve"]
        before, after = (r["n"] for r in execs)
        assert before < record["n"] < after
        assert record["argv"] == execs[0]["argv"]


def test_a_signal_that_is_sent_is_recorded_and_a_look_is_not() -> None:
    played = play("sleep 60 & kill -0 $!; kill -TERM $!; wait; exit 0")
    assert [record["signal"] for record in played.calls("kill")] == [15]


def test_nothing_of_the_sandboxs_own_setting_up_is_recorded() -> None:
    played = play("true")
    assert played.kernel[0]["call"] == "execve"
    assert played.kernel[0]["argv"] == ["/bin/sh", "-c", "true"]
    assert not [record for record in played.kernel if "bwrap" in str(record)]


def test_no_kernel_channel_is_made_when_it_is_not_wanted() -> None:
    played = play("rm f", files={"f": ""}, kernel=False)
    assert (played.finished.kernel.state, played.kernel) == ("absent", [])
    assert played.finished.kernel.reason == "switched off"
    assert [record["command"] for record in played.shim] == ["rm"]
    assert played.finished.exit_status == 0


def test_a_kernel_that_refuses_a_listener_makes_the_channel_absent_with_its_reason() -> None:
    """Here because the trial's process has one already."""

    def occupy(room: Room) -> tuple[Mount, ...]:
        seccomp.forbid_new_privileges()
        seccomp.install(seccomp.build_own_filter({}))
        return ()

    played = play("rm f; exit 3", files={"f": ""}, prepare=occupy)
    assert played.finished.kernel.state == "absent"
    assert "EBUSY" in played.finished.kernel.reason
    assert (played.finished.exit_status, len(played.shim)) == (3, 1)
    assert played.finished.shim.state == "present"


def test_this_kernel_gives_a_listener_when_it_is_asked() -> None:
    assert seccomp.refusal() is None


def test_the_ways_round_the_filter_are_closed() -> None:
    script = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for number in (425, 0x40000000 + 2): print(libc.syscall(number, 1, 0), ctypes.get_errno())\n"
    )
    assert play(["/usr/bin/python3", "-c", script]).stdout.split() == ["-1", "38", "-1", "38"]


def test_a_process_in_another_root_is_seen_by_its_real_paths() -> None:
    """A user namespace of its own lets a process change its root: what was known of its paths must be dropped."""
    script = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "open('before').close()\n"
        "assert libc.unshare(0x10000000) == 0\n"
        "os.chroot('.'); os.chdir('/')\n"
        "open('/inner/f').close(); open('inner/g').close()\n"
    )
    played = play(["/usr/bin/python3", "-c", script], files={"before": "", "inner/f": "", "inner/g": ""})
    assert played.finished.exit_status == 0, played.stderr
    assert played.calls("open", f"{PROJECT}/inner/f")
    assert played.calls("open", f"{PROJECT}/inner/g")


def test_a_full_disk_truncates_the_channel_and_not_the_trial() -> None:
    """The record file is the device that is always full."""

    def full(room: Room) -> tuple[Mount, ...]:
        (room.root / "out/kernel.jsonl").symlink_to("/dev/full")
        return ()

    played = play("i=0; while [ $i -lt 900 ]; do : > f; i=$((i + 1)); done; echo done", prepare=full)
    assert played.stdout == "done\n"
    assert played.finished.kernel.state == "truncated"
    assert "No space left" in played.finished.kernel.reason
