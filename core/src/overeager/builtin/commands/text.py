"""Commands that read files, search them, or put out text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from overeager.builtin.commands.arguments import Found, each, looks_like_file, path, reading, take_apart
from overeager.contract.shim import Nested


def reader(*valued: str, skip: int = 0) -> Callable[[Sequence[str], str], Found]:
    """A rule for a command that reads each operand, after the first `skip` ones."""

    def read(argv: Sequence[str], cwd: str) -> Found:
        return each("read", take_apart(argv[1:], valued).operands[skip:], cwd)

    return read


def nothing(argv: Sequence[str], cwd: str) -> Found:
    """A command that touches no file of its own accord."""
    return ()


def read_ls(argv: Sequence[str], cwd: str) -> Found:
    """ls, stat, file, test: names and attributes, not content."""
    given = take_apart(argv[1:], {"-I", "--ignore", "-w", "-c", "--format"})
    return each("list", given.operands or (".",), cwd)


def read_sort(argv: Sequence[str], cwd: str) -> Found:
    """sort: reads operands; -o writes."""
    given = take_apart(argv[1:], {"-o", "--output", "-k", "-t", "-S", "-T", "--key", "--field-separator"})
    return each("read", given.operands, cwd) + each("write", given.all_values("-o", "--output"), cwd)


_GREP_VALUED = frozenset(
    [
        "-e",
        "-f",
        "-m",
        "-A",
        "-B",
        "-C",
        "-D",
        "-d",
        "--regexp",
        "--file",
        "--max-count",
        "--after-context",
        "--before-context",
        "--context",
        "--include",
        "--exclude",
        "--exclude-dir",
        "--exclude-from",
        "--binary-files",
        "--color",
        "--label",
        "--directories",
    ]
)
_RG_VALUED = _GREP_VALUED | {"-g", "--glob", "-t", "--type", "-T", "-j", "--iglob", "-r", "--replace"}


def read_grep(argv: Sequence[str], cwd: str) -> Found:
    """grep: reads the files that it names, which is a search as well; a folder with -r is a search."""
    given = take_apart(argv[1:], _GREP_VALUED)
    recursive = given.has("-r", "-R", "--recursive", "--dereference-recursive")
    return _search(given.operands, given.has("-e", "-f", "--regexp", "--file"), recursive, cwd, argv)


def read_rg(argv: Sequence[str], cwd: str) -> Found:
    """rg: always recursive; a folder cannot be told from a file, so a name without a suffix is a search."""
    given = take_apart(argv[1:], _RG_VALUED)
    if given.has("--files"):
        return each("list", given.operands or (".",), cwd, tree=True)
    return _search(given.operands, given.has("-e", "-f", "--regexp", "--file"), True, cwd, argv)


def _search(operands: Sequence[str], pattern_given: bool, recursive: bool, cwd: str, argv: Sequence[str]) -> Found:
    files = list(operands) if pattern_given else list(operands[1:])
    if not recursive:
        return each("read", files, cwd) + each("search", files, cwd)
    found: Found = ()
    for word in files or ["."]:
        # A file named to a recursive search is named all the same; only folders are swept.
        if looks_like_file(word):
            found += (reading("read", path(word, cwd)),)
        else:
            found += (reading("search", path(word, cwd, tree=True), sure=False),)
    return found


_SED_VALUED = frozenset({"-e", "--expression", "-f", "--file", "-l", "--line-length"})


def read_sed(argv: Sequence[str], cwd: str) -> Found:
    """sed: reads operands; -i edits them; a `w FILE` command in the script writes."""
    given = take_apart([_plain_in_place(word) for word in argv[1:]], _SED_VALUED)
    scripted = given.has("-e", "--expression", "-f", "--file")
    files = given.operands if scripted else given.operands[1:]
    scripts = given.all_values("-e", "--expression") if scripted else given.operands[:1]
    found = each("read", given.all_values("-f", "--file"), cwd)
    if given.has("-i", "--in-place"):
        return found + each("edit", files, cwd)
    return found + each("read", files, cwd) + _sed_writes(scripts, cwd)


def _plain_in_place(word: str) -> str:
    """`-i.bak` without its suffix, so that the letters of the suffix are not taken for options."""
    if word.startswith("--in-place"):
        return "--in-place"
    return "-i" if word.startswith("-i") and not word.startswith("--") else word


def _sed_writes(scripts: Collection[str], cwd: str) -> Found:
    found: Found = ()
    for script in scripts:
        for line in script.split("\n"):
            command, blank, name = line.strip().partition("w ")
            if blank and not command.strip("0123456789,$ !{"):
                found += each("write", (name.strip(),), cwd)
    return found


def read_awk(argv: Sequence[str], cwd: str) -> Found:
    """awk: reads the files behind the program; what the program's literals write or run is possible."""
    given = take_apart(argv[1:], {"-F", "-v", "-f", "--file"}, mixed=False)
    scripted = given.has("-f", "--file")
    files = given.operands if scripted else given.operands[1:]
    read = each("read", given.all_values("-f", "--file"), cwd)
    read += each("read", [word for word in files if "=" not in word], cwd)
    return read if scripted else read + _awk_program("".join(given.operands[:1]), cwd)


_AWK_WRITES = re.compile(r'>>?\s*"((?:[^"\\]|\\.)+)"')
_AWK_RUNS = re.compile(r'system\(\s*"((?:[^"\\]|\\.)+)"\s*\)')


def _awk_program(program: str, cwd: str) -> Found:
    written = [match[1] for match in _AWK_WRITES.finditer(program) if not match[1].startswith("/dev/")]
    run = tuple(Nested(text=match[1], more_arguments=True) for match in _AWK_RUNS.finditer(program))
    return each("write", written, cwd, detail="in a program text", sure=False) + run


def read_test(argv: Sequence[str], cwd: str) -> Found:
    """test, [: whether a path is there."""
    files = [
        argv[at + 1] for at, word in enumerate(argv[:-1]) if word in ("-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L")
    ]
    return each("list", files, cwd, sure=False)


def read_source(argv: Sequence[str], cwd: str) -> Found:
    """source: reads and runs one file."""
    return each("read", argv[1:2], cwd)
