"""Commands that run other commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from overeager.builtin.commands.arguments import Found, each, exec_detail, path, place, reading, take_apart
from overeager.contract.shim import Nested


def read_env(argv: Sequence[str], cwd: str) -> Found:
    """env: skips options and assignments, then runs the rest."""
    given = take_apart(argv[1:], {"-u", "--unset", "-C", "--chdir", "-S", "--split-string"}, mixed=False)
    split = given.value("-S", "--split-string")
    words = [*(_split(split) if split else ()), *given.operands]
    while words and re.match(r"\w+=", words[0]):
        words.pop(0)
    folder = given.value("-C", "--chdir")
    return _inner(words, cwd=place(folder, cwd) if folder else None)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _inner(words: Sequence[str], more: bool = False, cwd: str | None = None) -> Found:
    return (Nested(argv=tuple(words), more_arguments=more, cwd=cwd),) if words else ()


def read_timeout(argv: Sequence[str], cwd: str) -> Found:
    """timeout: options, a duration, then a command."""
    given = take_apart(argv[1:], {"-s", "--signal", "-k", "--kill-after"}, mixed=False)
    return _inner(given.operands[1:])


def read_plain_wrapper(argv: Sequence[str], cwd: str) -> Found:
    """nohup, setsid, nice, stdbuf: options, then a command."""
    given = take_apart(argv[1:], {"-n", "--adjustment", "-o", "-i", "-e"}, mixed=False)
    words = list(given.operands)
    return _inner(words)


def read_sudo(argv: Sequence[str], cwd: str) -> Found:
    """sudo: options and assignments, then a command."""
    valued = {
        "-u",
        "--user",
        "-g",
        "--group",
        "-h",
        "--host",
        "-p",
        "--prompt",
        "-C",
        "-D",
        "--chdir",
        "-T",
        "-R",
        "-U",
    }
    given = take_apart(argv[1:], valued, mixed=False)
    words = list(given.operands)
    while words and re.match(r"\w+=", words[0]):
        words.pop(0)
    if given.has("-e", "--edit"):
        return each("edit", words, cwd, sure=False)
    return (exec_detail(words), *_inner(words))


def read_xargs(argv: Sequence[str], cwd: str) -> Found:
    """xargs: options, then a command that gets more arguments; `-I` puts them where the mark stands."""
    valued = {
        "-I",
        "-n",
        "--max-args",
        "-P",
        "--max-procs",
        "-d",
        "--delimiter",
        "-L",
        "--max-lines",
        "-s",
        "-a",
        "--arg-file",
        "-E",
        "--replace",
    }
    given = take_apart(argv[1:], valued, mixed=False)
    return each("read", given.all_values("-a", "--arg-file"), cwd) + _inner(given.operands or ("echo",), more=True)


_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
_FIND_WRITES = ("-fprint", "-fprint0", "-fls", "-fprintf")


def read_find(argv: Sequence[str], cwd: str) -> Found:
    """find: lists its starting points; -delete deletes below them; -exec runs a command on what it finds."""
    words = [word for word in argv[1:] if word not in ("-H", "-L", "-P")]
    starts: list[str] = []
    while words and not words[0].startswith(("-", "(", "!")):
        starts.append(words.pop(0))
    starts = starts or ["."]
    found = each("list", starts, cwd, tree=True)
    if "-delete" in words:
        found += tuple(
            reading("delete", path(start, cwd, tree=True), detail="find -delete", sure=False) for start in starts
        )
    for at, word in enumerate(words):
        if word in _FIND_WRITES and at + 1 < len(words):
            found += each("write", (words[at + 1],), cwd)
        if word in _FIND_RUNS:
            found += _find_run(words[at + 1 :], starts, cwd)
    return found


def _find_run(words: Sequence[str], starts: Sequence[str], cwd: str) -> Found:
    """`{}` stands for something below the starting points: as a target, the tree itself."""
    end = next(
        (at for at, word in enumerate(words) if word == ";" or (word == "+" and at and words[at - 1] == "{}")),
        len(words),
    )
    inner: list[str] = []
    for word in words[:end]:
        inner.extend([place(s, cwd) + "/**" for s in starts] if word == "{}" else [word])
    return _inner(inner, more=True)


def read_shell_command(argv: Sequence[str], cwd: str) -> Found:
    """bash, sh, dash: the text behind -c, or a script that is read and run."""
    given = take_apart(argv[1:], {"-o", "-O", "--rcfile", "--init-file"}, mixed=False)
    if given.has("-c"):
        return (Nested(text=given.operands[0]),) if given.operands else ()
    if given.has("-n", "-s") or not given.operands:
        return each("read", given.operands[:1], cwd)
    return (exec_detail(("script", *given.operands)), *each("read", given.operands[:1], cwd))


def read_busybox(argv: Sequence[str], cwd: str) -> Found:
    """busybox: runs its applet."""
    return _inner(argv[1:])
