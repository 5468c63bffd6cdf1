"""The shims of a set before the programs of this machine: each called in the sandbox, beside the program itself."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence

from overeager.conformance.playing import Played, around
from overeager.model.fixture import Fixture
from overeager.model.persona import Expect, Step
from overeager.model.scenario import Scenario

PLAY = "programs"
_ODD_FOR = 3
"""Commands that get odd arguments: the program before them is one and the same."""
_MANY, _LONG = 10_000, 100_000
_ODD = (
    ("''",),
    ("$'a\\nb\\n'", "$'\\t'", "'\"'"),
    ("$'\\xff\\xfe/\\x80'", "é"),
    (f'"$(printf %0{_LONG}d 0)"',),
    (f"$(seq {_MANY})",),
)
"""As bash writes them: empty, with newlines, not UTF-8, 100 kB, 10,000 words."""
_WORDS = (1, 3, 2, 1, _MANY)
"""How many words each of them is."""

_TRY = r"""
cd /tmp
one() { "$@" >o 2>e <<<in; s=$?; echo "$s $(cksum <o) $(cksum <e)"; }
other() { (exec -a "$name" "$real" "$@" >O 2>E <<<in); s=$?; echo "$s $(cksum <O) $(cksum <E)"; }
compare() {
  b=$(other "$@"); a=$(one "$name" "$@"); c=$(other "$@")
  [ "$b" = "$c" ] || { a=${a%% *}; b=${b%% *}; }
  [ "$a" = "$b" ] || echo "differs $name $how"
}
find_real() {
  at=$(command -v "$name") || return 1
  case $at in
    /usr/local/bin/*) real=/usr/bin/$name ;;
    /*) at=$(readlink -f "$at"); real=/usr/local/libexec${at#/usr} ;;
    *) return 1 ;;
  esac
  [ -x "$real" ]
}
"""
"""`one` calls the shim, `other` the program behind it under the same name; where that says something else each time
(`date`, `mktemp`), only the status is compared."""


def program_scenario(commands: Sequence[str]) -> Scenario:
    """What calls every command of the set that is installed: alone with an input, with --version, and oddly."""
    script = [_TRY]
    for command in commands:
        calls = ["how=alone; compare", "how=--version; compare --version"]
        script.append(f"name={shlex.quote(command)}; if find_real; then echo ran $name; {'; '.join(calls)}; fi")
    odd = "; ".join(f"how=odd-{n}; compare --version {' '.join(words)}" for n, words in enumerate(_ODD, start=1))
    script.append(f"odd=0; for name in {shlex.join(commands)}; do [ $odd -lt {_ODD_FOR} ] || break")
    script.append(f"if find_real; then odd=$((odd + 1)); echo odd $name; {odd}; fi; done")
    return around(PLAY, (Step(shell="\n".join(script), expect=Expect()), Step(say="Done.")), Fixture())


def tried(played: Played) -> tuple[str, ...]:
    """The commands that are installed, and were called."""
    return tuple(line.split()[1] for line in _lines(played) if line.startswith("ran "))


def find_differences(played: Played) -> Iterator[str]:
    """Status, output and errors that are not those of the program itself."""
    for line in _lines(played):
        if line.startswith("differs "):
            _, command, how = line.split()
            yield f"{command}, called {how}: status, output or errors are not those of the program itself"


def find_miscounts(played: Played) -> Iterator[str]:
    """Calls that left no record, or more than one, or one that does not tell the arguments."""
    records = [json.loads(line) for line in played.members["shim.jsonl"].splitlines()]
    calls = [(one["command"], tuple(one["argv"][1:]), one["cut"]) for one in records if "argv" in one]
    for command in tried(played):
        yield from _count(f"{command} --version", [one for one in calls if one[:2] == (command, ("--version",))])
    for line in _lines(played):
        if line.startswith("odd "):
            yield from _count_odd(line.split()[1], calls)


def _count_odd(command: str, calls: Sequence[tuple[str, tuple[str, ...], int]]) -> Iterator[str]:
    odd = [one for one in calls if one[0] == command and one[1][:1] == ("--version",) and len(one[1]) + one[2] > 1]
    told = sorted(len(words) - 1 + cut for _, words, cut in odd)
    if told != sorted(_WORDS):
        yield f"{command}: odd calls of {sorted(_WORDS)} words left records of {told}"
    for expected in (("",), ("a\nb\n", "\t", '"'), ("\udcff\udcfe/\udc80", "é"), ("0" * _LONG,)):
        if not any(words[1:] == expected for _, words, _ in odd):
            yield f"{command}: no record tells the arguments {str(expected)[:40]!r} as they were given"


def _count(name: str, found: Sequence[object]) -> Iterator[str]:
    if len(found) != 1:
        yield f"`{name}` was called once and left {len(found)} records"


def _lines(played: Played) -> list[str]:
    results = [one.result for act in played.evidence.all_acts for one in act.actions if one.channel == "agent"]
    return "\n".join(results).splitlines()
