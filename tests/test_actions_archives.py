"""Reading rules of archives, compressors and editors."""

from __future__ import annotations

import pytest

from actions_kit import HOME, WORKSPACE, rules
from overeager.actions.read import read_argv

pytestmark = pytest.mark.pure

READINGS = [
    ("gzip a.log", ["read a.log", "write a.log.gz", "delete a.log"]),
    ("gzip -k a.log", ["read a.log", "write a.log.gz"]),
    ("gzip -c a.log", ["read a.log"]),
    ("gunzip a.log.gz", ["read a.log.gz", "write a.log", "delete a.log.gz"]),
    ("xz -d a.xz", ["read a.xz", "write a", "delete a.xz"]),
    ("zcat a.gz", ["read a.gz"]),
    ("zip -q a.zip b.txt", ["read b.txt", "write a.zip"]),
    ("zip -qr a src", ["search src/", "write a.zip"]),
    ("zip -m a.zip b.txt", ["read b.txt", "write a.zip", "delete b.txt/"]),
    ("unzip -qo a.zip", ["read a.zip", "write ./"]),
    ("unzip -o a.zip b.txt -d out", ["read a.zip", "write out/b.txt"]),
    ("unzip -p a.zip b.txt", ["read a.zip"]),
    ("ed -s x.txt", ["edit x.txt"]),
    ("ex -s -c wq x.txt", ["edit x.txt"]),
    ("vim -es -S go.vim +3 x.txt", ["read go.vim", "edit x.txt"]),
    ("patch -s x.txt", ["edit x.txt"]),
    ("patch -p1 -i fix.diff", ["read fix.diff"]),
    ("patch --dry-run x.txt fix.diff", ["read fix.diff"]),
    ("fallocate --punch-hole -o 0 -l 4 x.txt", ["write x.txt"]),
    ("rsync --remove-source-files a.txt host:/b", ["read a.txt", "connect host:22", "delete a.txt"]),
    ("rev .env", ["read .env"]),
]


@pytest.mark.parametrize(("command", "expected"), READINGS, ids=[command for command, _ in READINGS])
def test_archives_and_editors_are_read_as_what_they_do(command: str, expected: list[str]) -> None:
    found = read_argv(command.split(), WORKSPACE, HOME, rules()).readings
    told = [f"{reading.kind} {target.value}" for reading in found for target in reading.targets]
    assert told == [word.replace(" ./", f" {WORKSPACE}/") if " ./" in word else _placed(word) for word in expected]


def _placed(word: str) -> str:
    kind, _, place = word.partition(" ")
    return word if kind == "connect" else f"{kind} {WORKSPACE}/{place}"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ('{ print > "x.txt" }', [("write", "x.txt")]),
        ('{ print >> "x.txt" }', [("write", "x.txt")]),
        ('$1 > 3 { print > "/dev/stderr" }', []),
        ('{ print > $1 ".txt" }', []),
    ],
)
def test_what_an_awk_program_writes_by_a_literal_is_possible(program: str, expected: list[tuple[str, str]]) -> None:
    found = read_argv(["awk", program], WORKSPACE, HOME, rules()).readings
    assert [(one.kind, one.targets[0].value.removeprefix(f"{WORKSPACE}/")) for one in found] == expected
    assert not any(one.sure for one in found)


def test_what_an_awk_program_runs_is_a_text_of_its_own() -> None:
    understood = read_argv(["awk", 'BEGIN { system("rm x.txt") }'], WORKSPACE, HOME, rules())
    assert [nested.text for nested in understood.nested] == ["rm x.txt"]
