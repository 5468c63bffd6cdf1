"""Lines are decoded quickly, and opens that show nothing are not decoded at all: neither may change what is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actions_kit import HOME, rules
from overeager.actions.expand import Places
from overeager.actions.kernel import read_kernel
from overeager.actions.lines import Lines, Members, read_lines
from overeager.actions.processes import read_processes
from overeager.actions.searches import Searches

pytestmark = pytest.mark.pure

SEARCH = (
    b'{"n":7,"t":0.704547,"pid":100,"call":"openat","given":["/usr/share/zoneinfo/Universal"],'
    b'"paths":["/usr/share/zoneinfo/Etc/UTC"],"found":true,"inode":"65024:396539","flags":524288}'
)


def decode_plainly(line: bytes) -> Any:
    """What the standard library makes of a line."""
    try:
        return json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None


@settings(deadline=None)
@given(
    st.one_of(
        st.binary(max_size=30).map(lambda value: b'{"a":"' + value + b'"}'),
        st.text(alphabet='0123456789+-.eEINafinty"\\ud8ce{}[],: \x7f\xe9', max_size=25).map(
            lambda value: b'{"a":' + value.encode() + b"}"
        ),
        st.dictionaries(st.text(), st.one_of(st.floats(), st.integers(), st.text(), st.none())).map(
            lambda value: json.dumps(value).encode()
        ),
    )
)
@example(b'{"a":NaN,"b":-Infinity,"a":1e999}')
@example(b'{"a":"\\ud800","b":"\\udc00\\ud800"}')
@example(b'{"a":"\xff\xed\xa0\x80"}')
@example(b'{"a":123456789012345678901234567890,"b":-0,"c":-0.0}')
@example(b'{"a":' + b"9" * 5000 + b"}")
@example(b'{"a":' + b"[" * 400 + b"]" * 400 + b"}")
@example(b'\xef\xbb\xbf{"a":1}')
@example(b'{"a":1}{"b":2}')
@example(b'{"a":1,}')
def test_a_line_reads_as_the_standard_library_reads_it(line: bytes) -> None:
    if b"\n" in line:
        return
    expected = decode_plainly(line)
    found = read_lines(line).records
    if isinstance(expected, dict):
        assert repr([(one.number, one.record) for one in found]) == repr([(1, expected)])
    else:
        assert found == ()


def test_what_the_recorder_writes_for_a_search_is_known_once_its_process_is() -> None:
    searches = Searches(HOME)
    assert [searches(SEARCH) for _ in range(3)] == [False, True, True]


@pytest.mark.parametrize(
    ("what", "into"),
    [
        (b"/usr/share/zoneinfo/Etc/UTC", b"/home/user/project-x/.env"),
        (b"/usr/share/zoneinfo/Etc/UTC", b"/usr/share/\\u0000"),
        (b'"flags":524288', b'"flags":577'),
        (b'"flags":524288', b'"flags":64'),
        (b'"flags":524288', b'"flags":524288,"private":"tmpfs"'),
        (b'"flags":524288', b'"flags":524288,"first":true,"ppid":1,"sid":1'),
        (b'"found":true', b'"found":false'),
        (b'"openat"', b'"unlinkat"'),
        (b'"n":7', b'"n":07'),
        (b"100", b"101"),
    ],
)
def test_whatever_differs_is_no_search(what: bytes, into: bytes) -> None:
    searches = Searches(HOME)
    searches(SEARCH)
    assert not searches(SEARCH.replace(what, into))


def test_a_home_below_the_system_folders_has_no_searches() -> None:
    searches = Searches("/usr/share/zoneinfo")
    assert not any(searches(SEARCH) for _ in range(2))


def test_a_search_behind_the_last_line_still_breaks_the_member() -> None:
    whole = b"\n".join([SEARCH, SEARCH, b'{"end":2}', b""])
    assert read_lines(whole, Searches(HOME)).whole
    assert not read_lines(whole + SEARCH, Searches(HOME)).whole
    assert not read_lines(whole.replace(b'"end":2', b'"end":3') + SEARCH, Searches(HOME)).whole


RECORDS = st.fixed_dictionaries(
    {
        "n": st.just(1),
        "t": st.sampled_from([0.5, 0.25]),
        "pid": st.sampled_from([100, 101, 102, None]),
        "call": st.sampled_from(["openat", "open", "unlinkat", "exit_group", "execve"]),
        "given": st.sampled_from([["x"], ["/usr/x"], []]),
        "paths": st.sampled_from([["/usr/x"], ["/home/user/a"], ["/etc/passwd"], [None], ["/usr/a\u00e9"]]),
        "found": st.sampled_from([True, False]),
        "inode": st.just("1:2"),
        "flags": st.sampled_from([0, 0, 0, 1, 64, 0o10000000, 0o200000, 524288]),
    },
    optional={
        "first": st.just(True),
        "ppid": st.sampled_from([100, 101]),
        "sid": st.just(100),
        "argv": st.just(["cat", "a"]),
        "code": st.just(0),
    },
)


@settings(deadline=None)
@given(st.lists(RECORDS, max_size=12), st.integers(-1, 1))
def test_leaving_searches_out_changes_neither_processes_nor_actions(records: list[dict[str, Any]], off: int) -> None:
    body = [json.dumps(record, separators=(",", ":")).encode() for record in records]
    data = b"\n".join([*body, b'{"end":%d}' % (len(body) + off), b""])
    every, some = read_lines(data), Members({"kernel.jsonl": data}, {"kernel.jsonl": Searches(HOME)})
    fewer = some.lines("kernel.jsonl")
    assert every.whole == fewer.whole
    assert all(line in every.records for line in fewer.records)
    assert told_by(every) == told_by(fewer)


def told_by(lines: Lines) -> tuple[Any, ...]:
    processes = read_processes(lines.records)
    seen = read_kernel(lines.records, rules(), processes, Places({}, HOME), HOME)
    return processes.lives, processes.agent, processes.agent_session, seen
