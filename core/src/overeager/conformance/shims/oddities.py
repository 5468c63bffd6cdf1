"""Odd calls, the same in every run: what people, programs and fuzzers write after a command's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

_SEED = 20260115
_WORDS = (
    "", " ", "\n", "a\nb", "\t", "\x01", "\udcff\udcfe", "é", "日本", "'", '"', "\\", "$(x)", "`x`", "-", "--", "---",
    "-x", "-rf", "--x", "--x=", "--x=y", "=", "x=", "=x", "-1", "0", "-0", "1e9", "{}", "{", "}", ";", "+", "!", "(",
    ")", "*", "**", "?", "[", "[a", "~", "~root", "~/", "/", "//", "///a", ".", "..", "../..", "../../../..", "./",
    "a/", "a//b", "/dev/null", "/proc/self/fd/0", "-c", "-e", "-f", "-o", "-n", "-exec", "-delete", "of=", "if=x",
    "%s", "http://", "http://[::1", "http://h:99999/", "user@host:x", ":", "::", "@", "s/a/b/w x", "1,$d", "x" * 5000,
)  # fmt: skip
"""Words that a reading rule meets sooner or later."""
_FOLDERS = ("/home/user/project-x", "/", "/home/user/a b\n", "/tmp/\udcff")


def odd_calls(
    command: str, known: Sequence[Sequence[str]] = (), number: int = 300
) -> Iterator[tuple[tuple[str, ...], str]]:
    """`number` calls of the command as (argv, cwd): each odd word alone, then mixtures, with words of `known` calls."""
    random = Random(f"{_SEED} {command}")
    usual = [word for call in known for word in call[1:]]
    yield (command,), _FOLDERS[0]
    for word in _WORDS:
        yield (command, word), _FOLDERS[0]
    for _ in range(max(0, number - len(_WORDS) - 1)):
        pool = usual if usual and random.random() < 0.5 else _WORDS
        words = [random.choice(pool if random.random() < 0.7 else _WORDS) for _ in range(random.randint(1, 7))]
        yield (command, *words), random.choice(_FOLDERS)


def long_call(command: str) -> tuple[tuple[str, ...], str]:
    """A call with two thousand words."""
    return (command, *("x" for _ in range(2_000))), _FOLDERS[0]


def short(argv: Sequence[str]) -> str:
    return repr(list(argv)[:8])[:120]
