"""The compiled shim outside any sandbox: its idea of /usr and of its socket is moved to a temporary folder."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from overeager.audit.shim.build import Form, ShimBinary, build, compiler
from overeager.audit.shim.record import ShimRecord, decode

COMPILED: list[Form] = [form for form in get_args(Form) if form != "sh" and compiler(form) is not None]


class Place(NamedTuple):
    """A system of its own, and where its shims' records arrive."""

    root: Path
    binary: ShimBinary
    socket: socket.socket

    def install(self, name: str, real: str | Path) -> Path:
        """A shim called `name` before the program `real`."""
        shim = self.root / "bin" / name
        shutil.copy(self.binary.path, shim)
        (self.root / "local/libexec/bin" / name).symlink_to(real)
        return shim

    def records(self) -> list[ShimRecord | None]:
        """What has arrived since the last look."""
        found = []
        while True:
            try:
                found.append(decode(self.socket.recv(1 << 18)))
            except BlockingIOError:
                return found

    def only(self) -> ShimRecord:
        """The one record that has arrived."""
        (record,) = self.records()
        assert record is not None
        return record


@pytest.fixture(params=COMPILED)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    # Not tmp_path: a socket's address holds 107 bytes.
    root = Path(tempfile.mkdtemp(prefix="s"))
    for folder in ("bin", "local/bin", "local/libexec/bin"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    binary = build(root / "c", form=request.param, defines={"SYSTEM": str(root), "ADDRESS": str(root / "n")})
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(root / "n"))
        receiver.setblocking(False)
        yield Place(root, binary, receiver)
    shutil.rmtree(root)


def run(*argv: str | bytes | Path, **more: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(argv, capture_output=True, check=False, timeout=60, **more)  # type: ignore[call-overload, no-any-return]


def test_shim_passes_output_input_and_status_through(place: Place) -> None:
    shell = place.install("tool", "/bin/sh")
    done = run(shell, "-c", "cat; echo no >&2; exit 3", input=b"yes\n")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"yes\n", b"no\n")


def test_shim_tells_time_place_and_arguments_of_a_call(place: Place, tmp_path: Path) -> None:
    tool = place.install("tool", "/bin/true")
    before = time.monotonic()
    run(tool, "-rf", "build", cwd=tmp_path)
    record = place.only()
    assert record.time is not None
    assert before <= record.time <= time.monotonic()
    assert (record.command, record.cwd, record.cut) == ("tool", str(tmp_path), 0)
    assert record.argv == (str(tool), "-rf", "build")


def test_shim_tells_its_process_its_parent_and_its_session(place: Place) -> None:
    tool = place.install("tool", "/bin/sh")
    done = run(tool, "-c", "echo $$ $PPID; cut -d' ' -f6 /proc/$$/stat")
    record = place.only()
    assert record[1:4] == tuple(int(word) for word in done.stdout.split())


def test_shim_dies_by_the_signal_that_its_command_gets(place: Place) -> None:
    sleeper = place.install("tool", "/bin/sleep")
    with subprocess.Popen([sleeper, "60"]) as process:
        place.socket.setblocking(True)
        place.socket.recv(1 << 18)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == -signal.SIGTERM


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([b""], id="empty"),
        pytest.param([b"a\nb\n", b"\t", b'"'], id="newline"),
        pytest.param([b"\xff\xfe/\x80", b"\xc3\xa9"], id="not-utf-8"),
        pytest.param([b"x" * 100_000], id="100-kB"),
        pytest.param([b"%d" % number for number in range(3000)], id="3000-arguments"),
    ],
)
def test_shim_tells_odd_arguments_exactly_and_once(place: Place, words: list[bytes]) -> None:
    shower = place.install("tool", "/usr/bin/printf")
    done = run(shower, "%s\\0", *words)
    record = place.only()
    assert done.stdout.split(b"\0")[:-1] == words
    assert [os.fsencode(word) for word in record.argv[2:]] == words
    assert record.cut == 0


def test_shim_counts_the_arguments_that_it_leaves_out_of_a_long_argv(place: Place) -> None:
    counter = place.install("tool", "/bin/sh")
    done = run(counter, "-c", "echo $#", "x", *["y" * 100_000] * 12)
    record = place.only()
    assert done.stdout == b"12\n"
    assert (len(record.argv), record.cut) == (5, 11)


def test_shim_sends_less_where_the_kernel_allows_no_such_datagram(place: Place) -> None:
    defines = {"SYSTEM": str(place.root), "ADDRESS": str(place.root / "n"), "MOST": "1000000"}
    greedy = build(place.root / "m", form=place.binary.form, defines=defines)
    tool = place._replace(binary=greedy).install("tool", "/bin/true")
    run(tool, *["y" * 90_000] * 11)
    record = place.only()
    assert (len(record.argv), record.cut) == (2, 10)


def test_shim_keeps_argv_zero_and_the_environment(place: Place) -> None:
    shower = place.install("tool", "/bin/cat")
    done = run("another name", "/proc/self/cmdline", "/proc/self/environ", executable=shower, env={"A": "1", "B": ""})
    assert done.stdout == b"another name\0/proc/self/cmdline\0/proc/self/environ\0A=1\0B=\0"


def test_shim_knows_its_name_by_its_file_and_not_by_argv_zero(place: Place) -> None:
    tool = place.install("tool", "/bin/true")
    run("init", "x", executable=tool)
    record = place.only()
    assert (record.command, record.argv) == ("tool", ("init", "x"))


def test_shim_leaves_no_descriptor_to_its_command(place: Place) -> None:
    lister = place.install("tool", "/bin/ls")
    assert run(lister, "/proc/self/fd").stdout == run("/bin/ls", "/proc/self/fd").stdout


def test_shim_without_a_real_program_fails_silently_with_127(place: Place) -> None:
    done = run(place.install("tool", "/nowhere"))
    assert (done.returncode, done.stdout, done.stderr) == (127, b"", b"")


def test_shim_with_a_program_that_cannot_start_fails_silently_with_126(place: Place, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    done = run(place.install("tool", tmp_path / "plain"))
    assert (done.returncode, done.stdout, done.stderr) == (126, b"", b"")


def test_shim_runs_its_command_when_nobody_listens(place: Place) -> None:
    tool = place.install("tool", "/bin/echo")
    place.socket.close()
    assert run(tool, "x").stdout == b"x\n"


def test_shim_first_in_path_starts_a_script_at_its_own_path(place: Place) -> None:
    script = place.root / "bin/tool"
    script.write_text('#!/bin/sh\necho "$0" "$@"\n')
    script.chmod(0o755)
    shim = place.root / "local/bin/tool"
    shutil.copy(place.binary.path, shim)
    assert run(shim, "a b").stdout.decode() == f"{script} a b\n"
    assert place.only().command == "tool"


def test_shim_finds_a_program_that_lies_elsewhere_in_the_system(place: Place) -> None:
    for folder in ("lib/vendor", "local/libexec/lib/vendor"):
        (place.root / folder).mkdir(parents=True)
    shutil.copy(place.binary.path, place.root / "lib/vendor/tool")
    (place.root / "local/libexec/lib/vendor/tool").symlink_to("/bin/echo")
    assert run(place.root / "lib/vendor/tool", "x").stdout == b"x\n"


def test_two_hundred_calls_at_once_leave_two_hundred_records(place: Place) -> None:
    tool = place.install("tool", "/bin/true")
    found: list[ShimRecord | None] = []
    place.socket.setblocking(True)
    reader = threading.Thread(target=lambda: found.extend(decode(place.socket.recv(1 << 18)) for _ in range(200)))
    reader.start()
    run("/bin/sh", "-c", f"for n in $(seq 200); do {tool} $n & done; wait")
    reader.join(timeout=30)
    assert sorted(int(record.argv[1]) for record in found if record) == list(range(1, 201))


def test_init_leaves_with_the_status_of_what_it_started(place: Place) -> None:
    assert run(place.binary.path, "/bin/sh", "-c", "exit 7").returncode == 7


def test_init_leaves_with_128_and_the_signal_that_ended_what_it_started(place: Place) -> None:
    assert run(place.binary.path, "/bin/sh", "-c", "kill -KILL $$").returncode == 128 + signal.SIGKILL


def test_init_finds_a_bare_name_in_path_and_says_127_for_none(place: Place) -> None:
    assert run(place.binary.path, "echo", "x", env={"PATH": "/nowhere:/bin"}).stdout == b"x\n"
    assert run(place.binary.path, "no-such-command", env={"PATH": "/bin"}).returncode == 127


def test_init_gives_its_child_a_session_of_its_own(place: Place) -> None:
    pid, session = run(place.binary.path, "/bin/sh", "-c", "echo $$; cut -d' ' -f6 /proc/$$/stat").stdout.split()
    assert pid == session


def test_init_wipes_its_arguments_but_not_those_of_its_child(place: Place) -> None:
    argv: list[str | Path] = [place.binary.path, "/bin/sh", "-c", "cat /proc/$$/cmdline; read x", "secret word"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        seen = process.stdout.read(len(b"/bin/sh\0"))
        own = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        process.communicate(b"\n", timeout=30)
    assert seen == b"/bin/sh\0"
    assert own.replace(b"\0", b"") == os.fsencode(place.binary.path)


@pytest.mark.parametrize("form", [*COMPILED, "sh"])
def test_nothing_in_the_program_speaks_of_measurement(form: Form, tmp_path: Path) -> None:
    data = build(tmp_path, form=form).path.read_bytes().lower()
    words = b"overeager audit shim bench trap trial sandbox harness canary persona archetype record".split()
    assert [word for word in words if word in data] == []
