"""git: the subcommand behind global options and aliases, and what each does to the work tree."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from overeager.builtin.commands.arguments import (
    Arguments,
    Found,
    both_ends,
    each,
    exec_detail,
    inside,
    path,
    place,
    reading,
    take_apart,
)
from overeager.contract.shim import Nested
from overeager.model.action import Target

_GLOBAL_VALUED = (
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--config-env",
)
_ALIAS_DEPTH = 5


class Invocation(NamedTuple):
    """One git call."""

    subcommand: str
    words: tuple[str, ...]
    """Behind the subcommand."""
    cwd: str
    aliases: Mapping[str, str]


def read_git(argv: Sequence[str], cwd: str) -> Found:
    """git: an exec reading with subcommand, options, operands, then what happens to files and hosts."""
    call = _locate(argv, cwd)
    for _ in range(_ALIAS_DEPTH):
        text = call.aliases.get(call.subcommand)
        if text is None:
            break
        if text.startswith("!"):
            shell = " ".join((text[1:], *(shlex.quote(word) for word in call.words)))
            return (exec_detail((call.subcommand, *call.words)), Nested(text=shell, cwd=call.cwd))
        words = (*_split(text), *call.words)
        call = call._replace(subcommand=words[0] if words else "", words=words[1:])
    if not call.subcommand:
        return ()
    rule = _SUBCOMMANDS.get(call.subcommand)
    effects = rule(call) if rule is not None else ()
    return (exec_detail(_described(call)), *effects)


def _locate(argv: Sequence[str], cwd: str) -> Invocation:
    rest = list(argv[1:])
    aliases: dict[str, str] = {}
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        name, equals, value = option.partition("=")
        if name in _GLOBAL_VALUED and not equals:
            value = rest.pop(0) if rest else ""
        if name == "-C":
            cwd = place(value, cwd)
        elif name == "-c" and value.startswith("alias."):
            key, _, text = value.removeprefix("alias.").partition("=")
            aliases[key] = text
        elif name == "--work-tree":
            cwd = place(value, cwd)
    return Invocation(rest[0] if rest else "", tuple(rest[1:]), cwd, aliases)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _described(call: Invocation) -> tuple[str, ...]:
    """Options before operands and short ones singly, so that one pattern fits every order (`branch -q -D feat`)."""
    flags: list[str] = []
    operands: list[str] = []
    for at, word in enumerate(call.words):
        if word == "--":
            operands.extend(call.words[at:])
            break
        if word.startswith("--") or not word.startswith("-") or word == "-":
            (flags if word.startswith("--") else operands).append(word)
        elif word[1:].isalpha() and len(word) <= 5:
            flags.extend(f"-{letter}" for letter in word[1:])
        else:
            flags.append(word)
    return (call.subcommand, *flags, *operands)


def _take(call: Invocation, *valued: str) -> Arguments:
    return take_apart(call.words, valued)


def _whole_tree(call: Invocation, kind: str = "write") -> Found:
    target = path(".", call.cwd, tree=True)
    if kind == "delete":
        return (reading("delete", target, detail=f"git {call.subcommand}", sure=False),)
    if kind == "search":
        return (reading("search", target, detail=f"git {call.subcommand}", sure=False),)
    return (reading("write", target, detail=f"git {call.subcommand}", sure=False),)


def _behind_dashes(call: Invocation) -> tuple[str, ...]:
    return call.words[call.words.index("--") + 1 :] if "--" in call.words else ()


def _reset(call: Invocation) -> Found:
    return _whole_tree(call) if _take(call).has("--hard", "--merge", "--keep") else ()


def _checkout(call: Invocation) -> Found:
    given = _take(call, "-b", "-B", "--orphan")
    files = _behind_dashes(call)
    if files:
        return each("write", files, call.cwd, detail="git checkout", sure=False)
    if given.has("-b", "-B", "--orphan"):
        return ()
    paths = [word for word in given.operands if word in (".", "./") or "/" in word or "." in word]
    return each("write", paths, call.cwd, detail="git checkout", sure=False, tree=True) if paths else _whole_tree(call)


def _restore(call: Invocation) -> Found:
    given = _take(call, "-s", "--source")
    if given.has("--staged", "-S") and not given.has("--worktree", "-W"):
        return ()
    return each("write", given.operands, call.cwd, detail="git restore", sure=False)


def _clean(call: Invocation) -> Found:
    given = _take(call, "-e", "--exclude")
    if given.has("-n", "--dry-run") or not given.has("-f", "--force"):
        return ()
    return each("delete", given.operands or (".",), call.cwd, detail="git clean", sure=False, tree=True)


def _remove(call: Invocation) -> Found:
    given = _take(call)
    if given.has("--cached", "-n", "--dry-run"):
        return ()
    return each(
        "delete",
        given.operands,
        call.cwd,
        detail="git rm",
        tree=given.has("-r"),
        sure=not given.has("--ignore-unmatch"),
    )


def _move(call: Invocation) -> Found:
    given = _take(call)
    if given.has("-n", "--dry-run") or len(given.operands) < 2:
        return ()
    *sources, last = given.operands
    if len(sources) == 1 and not last.endswith("/"):
        return (both_ends("move", sources[0], last, call.cwd),)
    return tuple(both_ends("move", source, inside(last, source), call.cwd) for source in sources)


def _add(call: Invocation) -> Found:
    given = _take(call)
    words = given.operands or ((".",) if given.has("-A", "--all", "-u") else ())
    return each("search", words, call.cwd, detail="git add", sure=False, tree=True)


def _grep(call: Invocation) -> Found:
    return _whole_tree(call, "search")


def _stash(call: Invocation) -> Found:
    verb = next((word for word in call.words if not word.startswith("-")), "push")
    return _whole_tree(call) if verb in ("push", "save", "pop", "apply", "branch") else ()


def _reads_objects(call: Invocation) -> Found:
    """`git show REV:FILE` puts out a file by another way than its path."""
    names = [word.partition(":")[2] for word in call.words if ":" in word and not word.startswith("-")]
    return each("read", names, call.cwd, detail="git object", sure=False) + _output(call)


def _output(call: Invocation) -> Found:
    given = _take(call, "-o", "--output")
    return each(
        "write",
        given.all_values("--output", "-o") if call.subcommand == "archive" else given.all_values("--output"),
        call.cwd,
    )


def _network(call: Invocation) -> Found:
    given = _take(call, "-o", "--push-option", "--receive-pack", "--upload-pack", "-b", "--branch", "--depth", "-j")
    if given.has("-n", "--dry-run") and call.subcommand == "push":
        return ()
    address = given.operands[0] if given.operands else "origin"
    kind = Target(type="url" if "://" in address else "other", value=address)
    worktree = _whole_tree(call) if call.subcommand == "pull" else ()
    return (reading("connect", kind, detail=f"git {call.subcommand}", sure=False), *worktree)


def _clone(call: Invocation) -> Found:
    given = _take(call, "-b", "--branch", "--depth", "-o", "--origin", "-c", "--config", "-j", "--reference")
    if not given.operands:
        return ()
    address = given.operands[0]
    name = address.rstrip("/").rpartition("/")[2].removesuffix(".git")
    folder = given.operands[1] if len(given.operands) > 1 else name
    return (
        reading(
            "connect",
            Target(type="url" if "://" in address else "other", value=address),
            detail="git clone",
            sure=False,
        ),
        *each("create", (folder,), call.cwd, tree=True),
    )


def _worktree(call: Invocation) -> Found:
    given = take_apart(call.words, {"-b", "-B", "--reason"})
    if len(given.operands) < 2 or given.operands[0] not in ("add", "remove"):
        return ()
    kind = "create" if given.operands[0] == "add" else "delete"
    return each("create" if kind == "create" else "delete", given.operands[1:2], call.cwd, tree=True)


def _config(call: Invocation) -> Found:
    given = _take(call, "-f", "--file", "--type", "--default")
    reads = given.has("--get", "--get-all", "--get-regexp", "-l", "--list", "--get-urlmatch")
    setting = given.has(
        "--unset", "--unset-all", "--add", "--replace-all", "--remove-section", "--rename-section", "-e"
    )
    names = [word for word in given.operands if word not in ("get", "list", "set", "unset")]
    if reads or (len(names) < 2 and not setting):
        return ()
    file = given.value("-f", "--file") or ("~/.gitconfig" if given.has("--global") else ".git/config")
    return each("write", (file,), call.cwd, detail="git config", sure=False)


def _init(call: Invocation) -> Found:
    given = _take(call, "-b", "--initial-branch", "--template")
    return each(
        "create", (inside(given.operands[0] if given.operands else ".", ".git"),), call.cwd, tree=True, sure=False
    )


def _rewrites_tree(call: Invocation) -> Found:
    return _whole_tree(call)


_SUBCOMMANDS: Mapping[str, Callable[[Invocation], Found]] = {
    "add": _add,
    "am": _rewrites_tree,
    "apply": _rewrites_tree,
    "archive": _output,
    "checkout": _checkout,
    "cherry-pick": _rewrites_tree,
    "clean": _clean,
    "clone": _clone,
    "config": _config,
    "diff": _output,
    "fetch": _network,
    "grep": _grep,
    "init": _init,
    "log": _output,
    "ls-remote": _network,
    "merge": _rewrites_tree,
    "mv": _move,
    "pull": _network,
    "push": _network,
    "rebase": _rewrites_tree,
    "reset": _reset,
    "restore": _restore,
    "revert": _rewrites_tree,
    "rm": _remove,
    "show": _reads_objects,
    "stash": _stash,
    "switch": _rewrites_tree,
    "worktree": _worktree,
}
"""Subcommands that touch files or hosts; all others change only git's own records, which the diff shows as refs."""
