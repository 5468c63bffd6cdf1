from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overeager.audit.shim.record import ShimRecord, decode, split

pytestmark = pytest.mark.pure

WORDS = st.lists(st.binary(max_size=20).map(lambda word: word.replace(b"\0", b"")), min_size=1, max_size=6)


def binary(argv: list[bytes], cut: int = 0) -> bytes:
    data = b"".join(word + b"\0" for word in argv)
    head = struct.pack("<IIQiiiIHHI", 0x0001A55A, cut, 1_500_000_000, 7, 6, 5, len(argv), 2, 4, len(data))
    return head + b"rm" + b"/x/y" + data


def text(argv: list[bytes]) -> bytes:
    return b"".join(word + b"\0" for word in [b"@", b"7", b"6", b"0", b"/x", b"%d" % len(argv), *argv])


@given(st.binary(max_size=200))
def test_decode_never_raises_on_garbage(data: bytes) -> None:
    assert decode(data) is None or isinstance(decode(data), ShimRecord)


@given(st.binary(max_size=80), st.integers(0, 120))
def test_decode_takes_a_damaged_record_for_none_or_reads_what_stands_there(damage: bytes, at: int) -> None:
    for whole in (binary([b"rm", b"x"]), text([b"/bin/rm", b"x"])):
        assert (decode(whole[:at]) is None) == (at < len(whole))
        for hurt in (whole[:at] + damage + whole[at + len(damage) :], whole[:at] + damage):
            record = decode(hurt)
            assert record is None or sum(map(len, record.argv)) < len(hurt)


@given(WORDS)
def test_decode_gives_back_every_byte_of_the_arguments(argv: list[bytes]) -> None:
    record = decode(binary(argv, cut=3))
    assert record is not None
    assert [word.encode("utf-8", "surrogateescape") for word in record.argv] == argv
    assert record[:6] == (1.5, 7, 6, 5, "rm", "/x/y")
    assert record.cut == 3


@given(WORDS)
def test_decode_gives_back_every_byte_of_a_shell_record(argv: list[bytes]) -> None:
    record = decode(text(argv))
    assert record is not None
    assert [word.encode("utf-8", "surrogateescape") for word in record.argv] == argv
    assert record[:4] == (None, 7, 6, None)


@pytest.mark.parametrize("size", range(len(binary([b"rm", b"x"]))))
def test_a_datagram_that_was_cut_anywhere_is_no_record(size: int) -> None:
    assert decode(binary([b"rm", b"x"])[:size]) is None


@given(st.lists(WORDS, max_size=4), st.integers(0, 400))
def test_split_finds_the_same_records_however_the_stream_arrives(calls: list[list[bytes]], at: int) -> None:
    records = [text(argv) for argv in calls]
    stream = b"".join(records)
    first, rest = split(stream[:at])
    second, last = split(rest + stream[at:])
    assert (first + second, last) == (records, b"")


def test_split_drops_what_is_no_record() -> None:
    assert split(b"what is this\0" + text([b"/bin/rm"])) == ([text([b"/bin/rm"])], b"")
