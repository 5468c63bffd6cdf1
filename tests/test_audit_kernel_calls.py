"""The kernel channel on what is neither file nor exec: signals, messages, mounts, tracing, filters, and who is left."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from overeager.actions.lines import read_lines
from overeager.actions.processes import left
from sandbox_kit import PROJECT, USERS, Played, Record, play

pytestmark = pytest.mark.sandbox

FORMS = (True, False)
"""The compiled loop, and Python's."""

LIBC = (
    "import ctypes, os, socket, signal, struct, sys, time\n"
    "libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long\n"
    "def call(*a): return libc.syscall(*(ctypes.c_long(x) if isinstance(x, int) else x for x in a))\n"
)


def run(script: str, **more: object) -> Played:
    """A Python program in the sandbox, which must come to its end."""
    played = play(["/usr/bin/python3", "-c", LIBC + script], shims=False, **more)  # type: ignore[arg-type]  # the kit's own
    assert played.finished.exit_status == 0, played.stderr
    return played


@pytest.mark.parametrize("compiled", FORMS)
def test_messages_with_an_address_are_told_and_those_without_are_not(compiled: bool) -> None:
    played = run(
        "udp = socket.socket(2, 2)\n"
        "udp.sendmsg([b'x'], [], 0, ('127.0.0.1', 5353))\n"
        "a, b = socket.socketpair(); a.sendmsg([b'x']); socket.send_fds(a, [b'x'], [0])\n"
        "names = [ctypes.create_string_buffer(struct.pack('=HH4s8x', 2, socket.htons(p), b'\\x7f\\0\\0\\1'), 16)\n"
        "         for p in (7, 8, 7)]\n"
        "part = ctypes.create_string_buffer(struct.pack('=QQ', ctypes.addressof(names[0]), 1), 16)\n"
        "at = ctypes.addressof\n"
        "head = b''.join(struct.pack('=QIIQQ32x', at(n), 16, 0, at(part), 1) for n in names)\n"
        "assert call(307, udp.fileno(), ctypes.create_string_buffer(head, len(head)), 3, 0) == 3, ctypes.get_errno()\n",
        compiled=compiled,
    )
    assert [one["address"] for one in played.calls("sendmsg")] == ["127.0.0.1:5353"]
    assert [(one["address"], one["more"]) for one in played.calls("sendmmsg")] == [("127.0.0.1:7", ["127.0.0.1:8"])]


@pytest.mark.parametrize("compiled", FORMS)
def test_what_is_listened_on_is_told_and_a_socket_file_by_its_path(compiled: bool) -> None:
    played = run(
        "socket.socket(1).bind('here.sock'); socket.socket(2).bind(('127.0.0.1', 0))\n"
        "socket.socket(1).bind('\\0hidden')",
        compiled=compiled,
    )
    told = [(one["address"], one.get("paths")) for one in played.calls("bind")]
    assert told == [
        ("unix:here.sock", [f"{PROJECT}/here.sock"]),
        ("127.0.0.1:0", None),
        ("unix:@hidden", None),
    ]


@pytest.mark.parametrize("compiled", FORMS)
def test_every_way_to_signal_another_process_is_told_and_ones_own_threads_are_not(compiled: bool) -> None:
    played = run(
        "def victim():\n"
        "    pid = os.fork()\n"
        "    if not pid: time.sleep(20)\n"
        "    return pid\n"
        "v = [victim() for _ in range(4)]\n"
        "print(*v)\n"
        "os.kill(v[0], 15); call(200, v[1], 15); call(234, v[2], v[2], 15)\n"
        "signal.pidfd_send_signal(os.pidfd_open(v[3]), 15)\n"
        "[os.waitpid(p, 0) for p in v]\n"
        "signal.signal(10, lambda *a: None)\n"
        "call(234, os.getpid(), os.getpid(), 10); call(200, os.getpid(), 10); call(234, os.getpid(), os.getpid(), 0)\n",
        compiled=compiled,
    )
    victims = [int(word) for word in played.stdout.split()]
    names = ("kill", "tkill", "tgkill", "pidfd_send_signal")
    found = [one for one in played.kernel if one["call"] in names]
    assert [(one["call"], one["target"], one["signal"]) for one in found] == [
        (name, victim, 15) for name, victim in zip(names, victims, strict=True)
    ]


@pytest.mark.parametrize("compiled", FORMS)
@pytest.mark.parametrize("user", USERS)
def test_mounts_of_a_nested_sandbox_are_told(user: str, compiled: bool) -> None:
    played = run(
        "assert call(272, 0x10020000) == 0, ctypes.get_errno()\n"
        "os.makedirs('a'); os.makedirs('b')\n"
        "assert libc.mount(b'a', b'b', None, 4096, None) == 0, ctypes.get_errno()\n"
        "assert libc.mount(b'none', b'a', b'tmpfs', 0, b'size=1m') == 0, ctypes.get_errno()\n"
        "assert libc.umount2(b'b', 2) == 0, ctypes.get_errno()\n"
        "libc.mount(None, b'/', None, 0x44000, None)\n"
        "call(428, -100, b'a', 1); call(430, b'tmpfs', 0); call(442, -100, b'a', 0, 0, 0)\n"
        "call(429, -100, b'a', -100, b'b', 0)\n"
        "call(308, 0, 0)\n",
        user=user,
        compiled=compiled,
    )
    bind, tmpfs, private = played.calls("mount")
    assert (bind["paths"], bind["flags"]) == ([f"{PROJECT}/a", f"{PROJECT}/b"], 4096)
    assert (tmpfs["paths"], tmpfs["source"], tmpfs["fstype"], tmpfs["data"]) == (
        [f"{PROJECT}/a"], "none", "tmpfs", "size=1m",
    )  # fmt: skip
    assert (private["paths"], "source" in private) == (["/"], False)
    assert played.calls("unshare")[0]["flags"] == 0x10020000
    assert played.calls("umount2")[0]["flags"] == 2
    for name in ("open_tree", "fsopen", "mount_setattr", "move_mount", "setns"):
        assert len(played.calls(name)) == 1, name
    assert played.calls("fsopen")[0]["fstype"] == "tmpfs"


@pytest.mark.parametrize("compiled", FORMS)
def test_reaching_into_another_process_is_told(compiled: bool) -> None:
    played = run(
        "pid = os.fork()\n"
        "if not pid: time.sleep(20)\n"
        "print(pid)\n"
        "assert libc.ptrace(16, pid, 0, 0) == 0, ctypes.get_errno()\n"
        "os.waitpid(pid, 0)\n"
        "libc.ptrace(1, pid, ctypes.c_void_p(4096), 0); libc.ptrace(7, pid, 0, 0)\n"
        "call(311, pid, 0, 0, 0, 0, 0); os.kill(pid, 9)\n",
        compiled=compiled,
    )
    child = int(played.stdout)
    assert [(one["request"], one["target"]) for one in played.calls("ptrace")] == [(16, child)]
    assert [one["target"] for one in played.calls("process_vm_writev")] == [child]


@pytest.mark.parametrize("compiled", FORMS)
def test_io_uring_is_refused_and_told(compiled: bool) -> None:
    played = run(
        "print(call(425, 8, 0), ctypes.get_errno(), call(0x40000000 | 2, 1, 0), ctypes.get_errno())", compiled=compiled
    )
    assert played.stdout.split() == ["-1", "38", "-1", "38"]
    assert [one["refused"] for one in played.calls("io_uring_setup")] == [True]


FILTER = (
    "steps = ((0x20, 0, 0, 0), (0x15, 0, 1, 42), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000))\n"
    "prog = b''.join(struct.pack('=HBBI', *step) for step in steps)\n"
    "text = ctypes.create_string_buffer(prog, len(prog))\n"
    "wanted = ctypes.create_string_buffer(struct.pack('=HxxxxxxQ', 4, ctypes.addressof(text)), 16)\n"
)


@pytest.mark.parametrize("compiled", FORMS)
def test_a_filter_of_the_agents_own_is_told_since_it_hides_connections(compiled: bool) -> None:
    played = run(
        FILTER + "print(call(317, 1, 8, wanted), ctypes.get_errno())\n"
        "assert call(317, 1, 0, wanted) == 0\n"
        "assert call(157, 22, 2, wanted, 0, 0) == 0\n"
        "try: socket.socket().connect(('127.0.0.1', 9))\n"
        "except PermissionError: pass\n",
        compiled=compiled,
    )
    assert played.stdout.split() == ["-1", "16"], "a listener of its own is refused: EBUSY"
    assert [(one["operation"], one["flags"]) for one in played.calls("seccomp")] == [(1, 8), (1, 0)]
    assert [one["operation"] for one in played.calls("prctl")] == [22]
    assert played.calls("connect") == []


@pytest.mark.parametrize("compiled", FORMS)
def test_programs_and_files_without_a_name_are_told(compiled: bool) -> None:
    played = run(
        "import shutil\n"
        "m = os.memfd_create('x', 0); os.write(m, open('/bin/true', 'rb').read())\n"
        "if not os.fork(): os.execve(m, ['by-number', 'a'], {})\n"
        "os.wait()\n"
        "if not os.fork(): os.execv(f'/proc/self/fd/{m}', ['by-path', 'b'])\n"
        "os.wait()\n"
        "pid = os.getpid()\n"
        "if not os.fork(): os.execv(f'/proc/{pid}/fd/{m}', ['by-parent', 'c'])\n"
        "os.wait()\n"
        "t = os.open('.', os.O_TMPFILE | os.O_WRONLY)\n"
        "assert call(265, -100, f'/proc/self/fd/{t}'.encode(), -100, b'named', 0x400) == 0, ctypes.get_errno()\n"
        "f = os.open('named', os.O_RDWR); os.posix_fallocate(f, 0, 10)\n",
        compiled=compiled,
    )
    execs = [one for one in played.kernel if one.get("argv", [""])[0].startswith("by-")]
    assert [one["argv"] for one in execs] == [["by-number", "a"], ["by-path", "b"], ["by-parent", "c"]]
    assert [one["found"] for one in execs] == [True] * 3
    assert {one["paths"][0].split(":")[0] for one in execs} == {"/memfd"}
    (linked,) = [one for one in played.kernel if one["call"].startswith("link")]
    assert linked["paths"][1] == f"{PROJECT}/named"
    assert linked["paths"][0].startswith(f"{PROJECT}/#")
    assert [one["paths"] for one in played.calls("fallocate")] == [[f"{PROJECT}/named"]]


@pytest.mark.parametrize("compiled", FORMS)
def test_roundabout_ways_to_a_file_are_told_by_its_path(compiled: bool) -> None:
    """Links of /proc stand for something else to every reader, wherever they occur on the way."""
    played = run(
        "os.symlink('/proc/self/cwd/f', 'one'); os.symlink('/proc', 'two')\n"
        "g = os.open('f', os.O_RDWR)\n"
        "ways = ['one', 'two/self/cwd/f', f'/proc/{os.getpid()}/cwd/f', f'/dev/fd/{g}',\n"
        "    '/proc/thread-self/root/' + os.getcwd() + '/f']\n"
        "for way in ways: os.close(os.open(way, os.O_WRONLY))\n"
        "print(len(ways))\n",
        files={"f": "a"},
        compiled=compiled,
    )
    found = [one for one in played.calls("open", f"{PROJECT}/f") if one["flags"] & 3 == 1]
    assert len(found) == int(played.stdout), [one for one in played.calls("open") if one["flags"] & 3 == 1]


def remaining(played: Played) -> list[Record]:
    """The processes that the agent left."""
    (told,) = played.calls("left")
    assert told["cut"] == 0
    return list(told["processes"])


@pytest.mark.parametrize("compiled", FORMS)
@pytest.mark.parametrize("user", USERS)
def test_processes_that_the_agent_leaves_are_told_at_its_end(user: str, compiled: bool) -> None:
    script = "sleep 60 & setsid sleep 61 & (sleep 62 &) ; (exit 0) & sleep 0.5; exit 4"
    played = play(script, user=user, shims=False, compiled=compiled)
    found = remaining(played)
    assert sorted(one["argv"] for one in found) == [["sleep", "60"], ["sleep", "61"], ["sleep", "62"]]
    agent = played.kernel[0]["pid"]
    for one in found:
        assert one["exe"].endswith("/sleep")
        assert one["pid"] != agent
        assert 1 < one["inside"] < 1000
    assert {one["argv"][1] for one in found if one["sid"] == one["pid"]} == {"61"}
    assert [record["call"] for record in played.kernel if record["pid"] == agent][-2:] == ["left", "exit_group"]


def test_an_agent_that_leaves_nothing_says_so_and_one_that_is_killed_says_nothing() -> None:
    assert remaining(play("true", shims=False)) == []
    assert play("kill -9 $$", shims=False).calls("left") == []


def test_who_is_left_is_read_with_the_command_that_it_became() -> None:
    lines: Sequence[Record] = (
        {"n": 1, "t": 0.1, "pid": 7, "call": "left", "cut": 0, "processes": [
            {"pid": 9, "inside": 4, "ppid": 7, "sid": 7, "argv": ["sh", "-c", "x"], "exe": "/usr/bin/dash"},
            {"pid": 10, "inside": 5, "ppid": 7, "sid": 7, "argv": ["node"], "exe": None}]},
        {"n": 2, "t": 0.1, "pid": 7, "call": "exit_group", "code": 0},
        {"n": 3, "t": 0.2, "pid": 9, "call": "execve", "argv": ["sleep", "9"], "found": True},
    )  # fmt: skip
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    found = left(read_lines(data).records)
    assert found is not None
    assert [(one.pid, one.argv, one.exe) for one in found] == [
        (9, ("sleep", "9"), "/usr/bin/dash"),
        (10, ("node",), ""),
    ]
    assert left(()) is None
