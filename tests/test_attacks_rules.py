"""The rules by which attacks on the evidence are seen, each by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from overeager.actions.corroboration import FORGED, vouch
from overeager.actions.lines import Line
from overeager.audit.kernel.mounts import Mount, locate, mount_number, read_mounts
from overeager.audit.shim.gaps import Start, find_gaps
from overeager.cli.output import printable
from overeager.contract.agent import Stream
from overeager.run.capture import MOST_LINES, collect_streams
from overeager.run.tampering import is_tampered

pytestmark = pytest.mark.pure

SHIMS = ("/usr/bin/rm", "/usr/local/bin/npm")
REAL_RM = "/usr/local/libexec/bin/rm"


@pytest.mark.parametrize(
    ("starts", "reports", "gaps"),
    [
        ([Start(1, 7, "/usr/bin/rm"), Start(3, 7, REAL_RM), Start(4, 7)], [(2, 7)], ()),
        ([Start(1, 7, "/usr/bin/rm"), Start(3, 7, REAL_RM), Start(4, 7)], [(2, 8)], ("/usr/bin/rm",)),
        ([Start(1, 7, REAL_RM), Start(2, 7)], [], (REAL_RM,)),
        ([Start(1, 7, "/usr/bin/rm"), Start(3, 7)], [], ("/usr/bin/rm",)),
        ([Start(1, 7, "/usr/bin/rm")], [], ()),
        ([Start(1, 7, "/usr/bin/npm"), Start(2, 7)], [], ("/usr/bin/npm",)),
        ([Start(1, 7, "/usr/local/bin/npm"), Start(3, 7, "/usr/bin/npm"), Start(4, 7)], [(2, 7)], ()),
        ([Start(1, 7, "/usr/bin/ls"), Start(2, 7)], [], ()),
    ],
)
def test_a_start_without_a_report_of_its_own_is_a_gap(
    starts: list[Start], reports: list[tuple[int, int]], gaps: tuple[str, ...]
) -> None:
    assert find_gaps(starts, reports, SHIMS) == gaps


def told(time: float, pid: int, *argv: str) -> Line:
    return Line(1, {"n": 0, "t": time, "pid": pid, "command": argv[0], "argv": list(argv), "cut": 0})


def start(time: float, pid: int, path: str, *argv: str) -> Line:
    record = {"t": time, "pid": pid, "call": "execve", "given": [path], "paths": [path], "found": True}
    return Line(1, {**record, "argv": list(argv), "cut": 0})


def left(time: float, pid: int) -> Line:
    return Line(1, {"t": time, "pid": pid, "call": "exit_group", "code": 0})


@pytest.mark.parametrize(
    ("kernel", "whole", "stands"),
    [
        ([start(1, 7, "/usr/bin/rm", "rm", "x")], True, True),
        ([start(1, 7, "/usr/bin/rm", "rm", "y")], True, False),
        ([start(1, 8, "/usr/bin/rm", "rm", "x")], True, False),
        ([start(1, 7, "/tmp/rm", "rm", "x")], True, False),
        ([start(1, 7, "/usr/bin/true", "rm", "x")], True, False),
        ([], True, False),
        ([], False, True),
        ([left(3, 7)], False, False),
    ],
)
def test_a_report_stands_only_with_the_start_that_it_tells_of(kernel: list[Line], whole: bool, stands: bool) -> None:
    (line,) = vouch([told(2, 7, "rm", "x")], kernel, whole)
    assert (line.record.get("raw") != FORGED) is stands


HOME = Mount(b"254:0", b"/rooms/1/home", b"/home/user", b"ext4")
KNOWN = {1: HOME, 2: Mount(b"254:0", b"/usr", b"/usr", b"ext4"), 3: Mount(b"254:0", b"/usr/bin", b"/usr/real", b"ext4")}


@pytest.mark.parametrize(
    ("path", "mount", "expected"),
    [
        (b"/home/user/p/a", HOME, (b"/home/user/p/a", "")),
        (b"/tmp/y/a", Mount(b"254:0", b"/rooms/1/home/p", b"/tmp/y", b"ext4"), (b"/home/user/p/a", "")),
        (b"/home/user/p/a", Mount(b"254:0", b"/rooms/1/tmp/z", b"/home/user/p", b"ext4"), (b"/home/user/p/a", "")),
        (b"/home/user/p/a", Mount(b"0:60", b"/", b"/home/user/p", b"overlay"), (b"/home/user/p/a", "overlay")),
        (b"/usr/bin/sh", KNOWN[2], (b"/usr/bin/sh", "")),
    ],
)
def test_a_path_behind_a_mount_is_told_by_the_name_that_all_know(
    path: bytes, mount: Mount, expected: tuple[bytes, str]
) -> None:
    assert tuple(locate(path, mount, KNOWN)) == expected


def test_the_mounts_of_a_process_are_read_with_their_numbers(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w") as file:
        number = mount_number(file.fileno())
    assert number in read_mounts(1 if Path("/proc/1/mountinfo").read_bytes() else 0) or number > 0


def test_a_session_of_more_lines_than_are_read_is_cut_and_said(tmp_path: Path) -> None:
    session = tmp_path / "s.jsonl"
    session.write_bytes(b"x\n" * (MOST_LINES + 5))
    streams = collect_streams((Stream("session", "s.jsonl"),), {}, {"s.jsonl": str(session)}, 1 << 26)
    assert streams.found["session"].count(b"\n") == MOST_LINES
    assert streams.cut == ("session",)


def test_many_sessions_without_content_are_bounded_together(tmp_path: Path) -> None:
    files = {}
    for name in "abc":
        with (tmp_path / name).open("wb") as file:
            file.truncate(1 << 30)
        files[f"{name}.jsonl"] = str(tmp_path / name)
    streams = collect_streams((Stream("session", "*.jsonl"),), {}, files, 1 << 16)
    assert len(streams.found["session"]) <= 1 << 16
    assert streams.cut == ("session",)


def test_an_open_of_the_agents_own_output_is_seen() -> None:
    record = (
        b'{"n":1,"call":"openat","given":["/proc/2/fd/1"],"paths":[null],"found":true,"inode":"13:4711","flags":1}\n'
    )
    assert is_tampered({"kernel.jsonl": record}, "13:4711")
    assert not is_tampered({"kernel.jsonl": record}, "13:471")
    assert not is_tampered({}, "13:4711")


def test_what_would_steer_a_terminal_is_written_out() -> None:
    assert printable("a\x1b[2J\x9b\r\n\tb\udcff") == "a\\x1b[2J\\x9b\\x0d\n\tb\\udcff"
