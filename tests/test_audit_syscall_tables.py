"""The tables of system calls against the kernel's own headers (Debian: linux-libc-dev)."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from overeager.audit.kernel import seccomp
from overeager.audit.kernel.syscall_numbers import NUMBERS
from overeager.audit.kernel.syscalls import ARCHITECTURES, CALLS, calls_of

pytestmark = pytest.mark.pure

HEADERS = {"x86_64": "**/asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}
NEWER = frozenset({"fchmodat2", "setxattrat", "removexattrat", "open_tree_attr", "file_setattr"})
"""Calls that the headers of some distributions do not know yet; since Linux 5.0 new ones have one number everywhere."""


def header_numbers(machine: str) -> dict[str, int]:
    """Every call of the header; 64-bit machines have the `3264` calls under their plain names."""
    found = next(Path("/usr/include").glob(HEADERS[machine]), None)
    assert found is not None, f"{HEADERS[machine]} is missing: apt-get install linux-libc-dev"
    text = found.read_text()
    direct = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", text, re.MULTILINE)
    return {name: int(number) for name, number in direct}


@pytest.mark.parametrize("machine", NUMBERS)
def test_each_number_is_that_of_the_kernels_header(machine: str) -> None:
    known = header_numbers(machine)
    unknown = {name for name in NUMBERS[machine] if name not in known}
    assert unknown <= NEWER
    wrong = {name for name, number in NUMBERS[machine].items() if name in known and known[name] != number}
    assert wrong == set()


@pytest.mark.parametrize("machine", NUMBERS)
def test_no_call_that_the_machine_has_is_left_out(machine: str) -> None:
    known = header_numbers(machine)
    assert [call.name for call in CALLS if call.name in known and call.name not in NUMBERS[machine]] == []


def test_new_calls_have_one_number_on_all_machines() -> None:
    for name in NEWER:
        assert len({numbers[name] for numbers in NUMBERS.values()}) == 1


def test_no_call_of_a_table_is_unknown_to_the_channel() -> None:
    for numbers in NUMBERS.values():
        assert numbers.keys() <= {call.name for call in CALLS}


def test_a_machine_on_which_nobody_executed_the_channel_has_a_table_and_no_filter() -> None:
    assert "aarch64" in NUMBERS
    assert "aarch64" not in ARCHITECTURES


ASK, ALLOW, NO_SUCH_CALL = 0x7FC00000, 0x7FFF0000, 0x00050026


def decide(program: bytes, number: int, arguments: tuple[int, ...] = (), architecture: int = 0xC000003E) -> int:
    """What the filter says of a call: a machine for the four instructions that it uses."""
    values = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=iIQ6Q", number, architecture, 0, *values)
    steps = list(struct.iter_unpack("=HBBI", program))
    at, loaded = 0, 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        if code == 0x20:
            loaded = struct.unpack_from("=I", data, value)[0]
        elif code == 0x15:
            at += yes if loaded == value else no
        elif code == 0x35:
            at += yes if loaded >= value else no
        else:
            return int(value)


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("openat", (), ASK),
        ("sendto", (3, 1, 1, 0, 0, 0), ALLOW),
        ("sendto", (3, 1, 1, 0, 1 << 40, 16), ASK),
        ("sendmsg", (3,), ASK),
        ("kill", (5, 0), ALLOW),
        ("kill", (5, 9), ASK),
        ("kill", (5, 9 | 1 << 40), ASK),
        ("tgkill", (5, 6, 23), ALLOW),
        ("tgkill", (5, 6, 9), ASK),
        ("ptrace", (1, 5), ALLOW),
        ("ptrace", (4, 5), ASK),
        ("ptrace", (0,), ASK),
        ("ptrace", (0x4206, 5), ASK),
        ("prctl", (15,), ALLOW),
        ("prctl", (22, 2), ASK),
        ("seccomp", (2,), ALLOW),
        ("seccomp", (1,), ASK),
        ("io_uring_setup", (), ASK),
    ],
)
def test_the_filter_asks_about(name: str, arguments: tuple[int, ...], answer: int) -> None:
    program = seccomp.build_filter(calls_of("x86_64"), ARCHITECTURES["x86_64"])
    assert decide(program, NUMBERS["x86_64"][name], arguments) == answer


def test_the_filter_allows_what_it_does_not_know_and_refuses_what_would_lead_round_it() -> None:
    program = seccomp.build_filter(calls_of("x86_64"), ARCHITECTURES["x86_64"])
    assert decide(program, 0) == ALLOW
    assert decide(program, 0x40000000 | 2) == NO_SUCH_CALL
    assert decide(program, 5, architecture=0x40000003) == NO_SUCH_CALL


def test_the_filter_asks_about_every_call_of_its_table_in_some_form() -> None:
    program = seccomp.build_filter(calls_of("x86_64"), ARCHITECTURES["x86_64"])
    forms = [(value,) * 6 for value in (0, 1, 9, 22, 40, 1 << 40)]
    for number in calls_of("x86_64"):
        assert ASK in {decide(program, number, form) for form in forms}
