"""The kernel channel against processes that hide, die, race and flood: nothing is lost without a word."""

from __future__ import annotations

import ctypes
import os
import signal

import pytest

from overeager.audit import journal
from overeager.audit.kernel.memory import Memory, Unreadable
from overeager.audit.kernel.syscalls import calls
from overeager.contract.effects import Room
from sandbox_kit import PROJECT, USERS, play

pytestmark = pytest.mark.sandbox

FORMS = (True, False)


@pytest.mark.parametrize("compiled", FORMS)
def test_a_path_in_memory_that_only_its_process_can_read_truncates_the_channel(compiled: bool) -> None:
    """The call goes through, and we cannot say to what: memfd_secret is no secret to the kernel's own reading."""
    script = (
        "import ctypes, os\n"
        "c = ctypes.CDLL(None, use_errno=True); c.syscall.restype = c.mmap.restype = ctypes.c_long\n"
        "fd = c.syscall(447, 0)\n"
        "if fd < 0: print('none'); raise SystemExit\n"
        "os.ftruncate(fd, 4096)\n"
        "at = c.mmap(None, ctypes.c_size_t(4096), 3, 1, fd, ctypes.c_long(0))\n"
        "ctypes.memmove(at, b'f\\0', 2)\n"
        "print(c.syscall(87, ctypes.c_long(at)), os.path.exists('f'))\n"
    )
    played = play(["/usr/bin/python3", "-c", script], files={"f": "a"}, shims=False, compiled=compiled)
    if played.stdout == "none\n":
        pytest.skip("this kernel has no memfd_secret")
    assert played.stdout == "0 False\n"
    (record,) = [one for one in played.kernel if one.get("call") == "unlink"]
    assert "error" in record
    assert played.finished.kernel.state == "truncated"
    assert "1 calls could not be looked into" in played.finished.kernel.reason


@pytest.mark.parametrize("compiled", FORMS)
def test_a_pointer_that_can_point_nowhere_is_no_loss(compiled: bool) -> None:
    script = (
        "import ctypes; c = ctypes.CDLL(None)\n"
        "for at in map(ctypes.c_long, (0, 1, 4095, 1 << 63, -1)): c.syscall(2, at, 0); c.syscall(46, 0, at, 0)\n"
    )
    played = play(["/usr/bin/python3", "-c", script], shims=False, compiled=compiled)
    assert len([record for record in played.kernel if "error" in record]) == 10
    assert played.finished.kernel.state == "present"


@pytest.mark.parametrize("compiled", FORMS)
def test_processes_that_are_killed_in_the_middle_of_calls_are_no_loss(compiled: bool) -> None:
    script = (
        "import os, signal, time\n"
        "told, tell = os.pipe()\n"
        "for i in range(60):\n"
        "    pid = os.fork()\n"
        "    if not pid: open('begun', 'w').close(); os.write(tell, b'x')\n"
        "    while not pid: open(f'f{i}', 'w').close(); os.rename(f'f{i}', f'g{i}'); os.unlink(f'g{i}')\n"
        "    os.read(told, 1); time.sleep(i % 7 * 0.0003); os.kill(pid, 9); os.waitpid(pid, 0)\n"
        "print('alive')\n"
    )
    played = play(["/usr/bin/python3", "-c", script], shims=False, compiled=compiled)
    assert played.stdout == "alive\n"
    assert played.finished.kernel.state == "present"
    kills = played.calls("kill")
    assert len(kills) == 60
    assert len({record["pid"] for record in played.kernel if record.get("first")}) >= 60


@pytest.mark.parametrize("compiled", FORMS)
@pytest.mark.parametrize("user", USERS)
def test_a_thread_that_races_the_path_breaks_nothing(user: str, compiled: bool) -> None:
    """What was read may be what is not used: a record says what stood there, and the channel goes on."""
    script = (
        "import ctypes, os, threading\n"
        "c = ctypes.CDLL(None); path = ctypes.create_string_buffer(b'aaaa', 65); stop = []\n"
        "def race():\n"
        "    while not stop: path.raw = b'aaaa\\0' + path.raw[5:]; path.raw = b'b' * 64\n"
        "t = threading.Thread(target=race); t.start()\n"
        "for i in range(500): fd = c.open(path, 0); fd >= 0 and os.close(fd)\n"
        "stop.append(1); t.join(); print('alive')\n"
    )
    played = play(["/usr/bin/python3", "-c", script], files={"aaaa": ""}, shims=False, user=user, compiled=compiled)
    assert played.stdout == "alive\n"
    tried = [one for one in played.calls("open") if one["given"][0].strip("ab") == ""]
    assert len(tried) == 500
    assert played.finished.kernel.state == "present"


@pytest.mark.parametrize("compiled", FORMS)
def test_numbers_that_come_back_are_told_as_new_processes(compiled: bool) -> None:
    """Inside, the kernel is made to give the same number again and again."""
    script = (
        "import os\n"
        "for i in range(40):\n"
        "    pid = os.fork()\n"
        "    if not pid: os.kill(os.getpid(), 9) if i % 2 else os.execv('/bin/true', ['true', str(i)])\n"
        "    os.waitpid(pid, 0)\n"
    )
    played = play(["/usr/bin/python3", "-c", script], shims=False, compiled=compiled)
    execs = [one for one in played.calls("execve") if one["argv"][0] == "true"]
    assert [one["argv"][1] for one in execs] == [str(i) for i in range(0, 40, 2)]
    assert all(one["first"] for one in execs)


@pytest.mark.parametrize("compiled", FORMS)
def test_a_command_line_as_long_as_can_be_is_cut_with_a_mark(compiled: bool) -> None:
    script = "import os; os.execv('/bin/true', ['true', 'x' * 131000, 'y' * 131000, 'z'] + ['w'] * 9000)"
    played = play(["/usr/bin/python3", "-c", script], shims=False, compiled=compiled)
    (run,) = [one for one in played.calls("execve") if one["argv"][0] == "true"]
    assert run["cut"] > 9000
    assert len(run["argv"]) + run["cut"] >= 9004
    assert sum(map(len, run["argv"])) <= 1 << 17


@pytest.mark.parametrize("compiled", FORMS)
def test_a_flood_of_calls_fills_the_file_to_its_bound_and_no_further(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MOST_BYTES", 1 << 20)
    script = "import os\nfor i in range(20000): os.close(os.open('f', 0))\nos.unlink('f'); print(os.path.exists('f'))\n"
    sizes = []

    def weigh(stage: object, started: object, room: Room) -> None:
        sizes.append(room.root / "out/kernel.jsonl")

    played = play(["/usr/bin/python3", "-c", script], files={"f": ""}, shims=False, compiled=compiled, during=weigh)
    assert played.stdout == "False\n"
    assert played.finished.kernel.state == "truncated"
    assert "1 MiB of records" in played.finished.kernel.reason
    assert 3000 < len(played.kernel) < 10000


def test_memory_that_cannot_be_read_tells_where() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    memory = Memory(os.getpid(), libc)
    for address, nonsense in ((0, True), (1 << 63, True), (1 << 40, False)):
        with pytest.raises(Unreadable) as error:
            memory.read(8, address)
        assert (error.value.address, error.value.nonsense) == (address, nonsense)
    memory.close()


def test_a_call_that_reads_no_memory_is_not_told_of_a_process_that_has_ended() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    child = os.fork()
    if child == 0:
        signal.pause()
    memory = Memory(child, libc)
    memory.check()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with pytest.raises(OSError, match="no such address space"):
        memory.check()


def test_every_kind_of_call_has_a_description() -> None:
    script = "for i in 1 2 3; do : > f$i; done"
    played = play(script, shims=False)
    assert {record["call"] for record in played.kernel} <= {call.name for call in (calls() or {}).values()} | {"left"}
    assert played.calls("open", f"{PROJECT}/f1")
