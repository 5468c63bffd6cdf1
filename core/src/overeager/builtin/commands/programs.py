"""Interpreters, package managers and signals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.builtin.commands.arguments import (
    Arguments,
    Found,
    both_ends,
    each,
    exec_detail,
    path,
    reading,
    take_apart,
)
from overeager.contract.shim import Nested, Reading
from overeager.contract.signals import signal_name
from overeager.model.action import Target
from overeager.model.vocabulary import Kind


class Spelling(NamedTuple):
    """A call in a one-line program whose first argument is a literal path, perhaps the second too."""

    call: re.Pattern[str]
    kind: Kind
    tree: bool = False
    second: Kind | None = None
    """What becomes of the second path, where that is not the other end of the same doing."""


_BARE = r"""\s*\(?\s*(?P<quote>['"])(?P<path>(?:(?!(?P=quote)).)+)(?P=quote)"""
_LITERAL = r"""\s*\(\s*(?P<form>[rbf]?)(?P<quote>['"])(?P<path>(?:(?!(?P=quote)).)+)(?P=quote)"""
_SECOND = r"""(?:\s*,\s*(?P<form2>[rbf]?)(?P<quote2>['"])(?P<path2>(?:(?!(?P=quote2)).)+)(?P=quote2))?"""
_EXPANDED = r"""\s*\(\s*(?:os\.path\.)?expanduser\s*\(?\s*(?P<quote>['"])(?P<path>(?:(?!(?P=quote)).)+)(?P=quote)"""
_MODE = r"""\s*,\s*(?:mode\s*=\s*)?['"](?P<mode>[rwaxbt+]+)['"]"""
_FETCH = re.compile(r"""['"](https?://[^'"\s]+)['"]""")


def _spelled(names: str, kind: Kind, tree: bool = False, literal: str = _LITERAL) -> Spelling:
    return Spelling(re.compile(f"{_edge(names)}{names}{literal}"), kind, tree)


def _spelled_twice(names: str, kind: Kind, second: Kind | None = None, literal: str = _LITERAL) -> Spelling:
    return Spelling(re.compile(f"{_edge(names)}{names}{literal}{_SECOND}"), kind, second=second)


def _edge(names: str) -> str:
    """A name begins where no word goes on; one that begins with a dot is anything's member."""
    return "" if names.startswith(r"\.") else r"(?<!\w)"


_PYTHON = (
    _spelled(r"(?:os\.|Path\.)?(?:remove|unlink|rmdir)", "delete"),
    _spelled(r"(?:shutil\.)?rmtree", "delete", tree=True),
    _spelled_twice(r"(?:os\.)?(?:renames?|replace)", "move"),
    _spelled_twice(r"(?:shutil\.)?move", "move"),
    _spelled_twice(r"(?:shutil\.)?copy(?:2|file|tree)?", "read", "write"),
    _spelled(r"os\.(?:chmod|chown|lchmod)", "mode"),
    _spelled(r"os\.(?:mkdir|makedirs)", "create"),
    _spelled(r"os\.truncate", "write"),
    _spelled_twice(r"(?:os\.)?(?:symlink|link)", "link"),
    _spelled(r"os\.(?:listdir|scandir|stat)", "list"),
    _spelled(r"sqlite3\.connect", "read"),
)
_PYTHON_PATHS = (
    re.compile(rf"Path{_LITERAL}\s*\)(?:\.expanduser\(\))?\.(?P<verb>\w+)"),
    re.compile(rf"open{_EXPANDED}"),
)
_VERBS: Mapping[str, Kind] = {
    "read_text": "read", "read_bytes": "read", "open": "read", "write_text": "write", "write_bytes": "write",
    "unlink": "delete", "rmdir": "delete", "touch": "create", "mkdir": "create", "chmod": "mode", "rename": "move",
    "replace": "move", "iterdir": "list",
}  # fmt: skip
_OPEN = re.compile(rf"(?<![\w.])(?:io\.|codecs\.)?open{_LITERAL}(?:{_MODE})?")
_SYSTEM = re.compile(
    r"""(?:os\.(?:system|popen)|subprocess\.(?:run|call|check_call|check_output|Popen|getoutput)|execSync|exec|system)"""
    r"""\s*\(?\s*(?P<quote>['"])(?P<text>(?:(?!(?P=quote)).)+)(?P=quote)"""
)

_NODE = (
    _spelled(r"(?:fs\.|\)\.)?(?:promises\.)?(?:rm|unlink|rmdir)(?:Sync)?", "delete"),
    _spelled(r"\.(?:readFile|createReadStream)(?:Sync)?", "read"),
    _spelled(r"\.(?:writeFile|appendFile|createWriteStream|truncate)(?:Sync)?", "write"),
    _spelled_twice(r"\.(?:rename)(?:Sync)?", "move"),
    _spelled_twice(r"\.(?:copyFile|cp)(?:Sync)?", "read", "write"),
    _spelled_twice(r"\.(?:link|symlink)(?:Sync)?", "link"),
    _spelled(r"\.(?:chmod|chown)(?:Sync)?", "mode"),
    _spelled(r"\.(?:mkdir)(?:Sync)?", "create"),
)
_PERL = (
    _spelled(r"unlink", "delete", literal=_BARE),
    _spelled(r"rmdir", "delete", literal=_BARE),
    _spelled(r"(?:rmtree|remove_tree)", "delete", tree=True, literal=_BARE),
    _spelled_twice(r"rename", "move", literal=_BARE),
)
_PERL_OPEN = re.compile(
    r"""open\s*\(?\s*(?:my\s+)?\$?\w+\s*,\s*(?P<q>['"])(?P<mode>[<>+]+)[^'"]*(?P=q)\s*,\s*(?P<quote>['"])(?P<path>[^'"]+)(?P=quote)"""
)


def read_python(argv: Sequence[str], cwd: str) -> Found:
    """python3: the literal calls of a -c text, as possible readings; else the script that is run."""
    given = take_apart(argv[1:], {"-c", "-m", "-W", "-X"}, mixed=False)
    text = _text_of(argv, "-c")
    if text is not None:
        return (exec_detail(("-c", text)), *_python_text(text, cwd))
    if given.has("-m"):
        return _python_module(given, cwd)
    script = given.operands[:1]
    return (exec_detail(given.operands), *each("read", script, cwd)) if script else ()


def _text_of(argv: Sequence[str], *flags: str) -> str | None:
    """The program text: the word behind the flag, or attached to it."""
    for at, word in enumerate(argv[1:], start=1):
        if word in flags:
            return argv[at + 1] if at + 1 < len(argv) else None
        if not word.startswith("-"):
            return None
    return None


def _python_module(given: Arguments, cwd: str) -> Found:
    module = given.value("-m") or ""
    if module != "pip":
        return (exec_detail(("-m", module, *given.operands)),)
    return tuple(
        found._replace(detail=f"pip {found.detail}") if isinstance(found, Reading) and found.kind == "exec" else found
        for found in read_pip((module, *given.operands), cwd)
    )


def _python_text(text: str, cwd: str) -> Found:
    found = _spellings(_PYTHON, text, cwd)
    for match in _OPEN.finditer(text):
        mode = match["mode"] or "r"
        kind: Kind = "read" if set(mode) <= set("rbt") else "write"
        found += (_possible(kind, match["path"], cwd, form=match["form"]),)
    for pattern in _PYTHON_PATHS:
        for match in pattern.finditer(text):
            verb = _VERBS.get(match.groupdict().get("verb") or "open")
            if verb is not None:
                found += (_possible(verb, match["path"], cwd, form=match.groupdict().get("form") or ""),)
    return found + _common(text)


def _spellings(spellings: Sequence[Spelling], text: str, cwd: str) -> Found:
    return tuple(
        one for spelling in spellings for match in spelling.call.finditer(text) for one in _call(spelling, match, cwd)
    )


def _call(spelling: Spelling, match: re.Match[str], cwd: str) -> tuple[Reading, ...]:
    given = match.groupdict()
    name, form, other = match["path"], given.get("form") or "", given.get("path2")
    if other is None:
        return (_possible(spelling.kind, name, cwd, spelling.tree, form),)
    if spelling.second is not None:
        written = _possible(spelling.second, other, cwd, form=given["form2"] or "")
        return (_possible(spelling.kind, name, cwd, form=form), written)
    whole = both_ends(spelling.kind, name, other, cwd, sure=False)
    return (whole._replace(detail=_IN_TEXT),)


_IN_TEXT = "in a program text"


def _possible(kind: Kind, name: str, cwd: str, tree: bool = False, form: str = "") -> Reading:
    """A name with a hole in it (`f"out{i}"`) is no place."""
    target = Target(type="other", value=name) if form == "f" and "{" in name else path(name, cwd, tree)
    return reading(kind, target, detail=_IN_TEXT, sure=False)


def _common(text: str) -> Found:
    fetched = tuple(
        reading("fetch", Target(type="url", value=match[1]), detail=_IN_TEXT, sure=False)
        for match in _FETCH.finditer(text)
    )
    return fetched + tuple(Nested(text=match["text"], more_arguments=True) for match in _SYSTEM.finditer(text))


def read_node(argv: Sequence[str], cwd: str) -> Found:
    """node: the literal calls of a -e text, as possible readings; else the script that is run."""
    text = _text_of(argv, "-e", "--eval", "-p", "--print", "-pe")
    if text is not None:
        return (exec_detail(("-e", text)), *_spellings(_NODE, text, cwd), *_common(text))
    given = take_apart(argv[1:], {"-r", "--require"}, mixed=False)
    return (exec_detail(given.operands), *each("read", given.operands[:1], cwd)) if given.operands else ()


def read_perl(argv: Sequence[str], cwd: str) -> Found:
    """perl: -i edits the operands; the literal calls of a -e text are possible readings."""
    given = take_apart([_plain_perl(word) for word in argv[1:]], {"-e", "-E", "-M", "-I"}, mixed=False)
    texts = given.all_values("-e", "-E")
    found: Found = ()
    for text in texts:
        found += _spellings(_PERL, text, cwd) + _common(text)
        for match in _PERL_OPEN.finditer(text):
            found += (_possible("write" if ">" in match["mode"] else "read", match["path"], cwd),)
    if given.has("-i"):
        return found + each("edit", given.operands, cwd)
    if texts:
        return found + (each("read", given.operands, cwd) if given.has("-n", "-p") else ())
    return (exec_detail(given.operands), *each("read", given.operands[:1], cwd)) if given.operands else ()


def _plain_perl(word: str) -> str:
    """`-i.bak` without its suffix."""
    return re.sub(r"^(-[a-zA-Z]*i)\.\w+", r"\1", word)


_INSTALLS = frozenset({"install", "i", "add", "ci", "update", "upgrade", "uninstall", "remove", "rm", "un", "link"})


def read_npm(argv: Sequence[str], cwd: str) -> Found:
    """npm: the verb with its options; an install writes node_modules, here or (-g) for the whole system."""
    given = take_apart(argv[1:], {"--prefix", "-C", "--registry", "-w", "--workspace"})
    verb = given.operands[0] if given.operands else ""
    found: Found = (exec_detail((*given.operands, *given.flags)),)
    if verb in _INSTALLS and not given.has("-g", "--global"):
        found += each("write", (f"{given.value('--prefix', '-C') or '.'}/node_modules",), cwd, sure=False, tree=True)
    return found


def read_npx(argv: Sequence[str], cwd: str) -> Found:
    """npx: options, then a package's command."""
    given = take_apart(argv[1:], {"-p", "--package", "-c", "--call"}, mixed=False)
    call = given.value("-c", "--call")
    inner: Found = (Nested(text=call),) if call else ()
    return (exec_detail(given.operands), *inner)


def read_pip(argv: Sequence[str], cwd: str) -> Found:
    """pip: the verb with its operands; requirement files are read."""
    given = take_apart(
        argv[1:], {"-r", "--requirement", "-c", "--constraint", "-t", "--target", "-i", "--index-url", "-e", "--prefix"}
    )
    files = given.all_values("-r", "--requirement", "-c", "--constraint")
    found: Found = (exec_detail((*given.operands, *given.flags)), *each("read", files, cwd))
    return found + each("write", given.all_values("-t", "--target", "--prefix"), cwd, sure=False, tree=True)


_SIGNAL = re.compile(r"-(?:\d+|(?:SIG)?[A-Z]+\d*)")


def read_kill(argv: Sequence[str], cwd: str) -> Found:
    """kill: each pid signalled; signal 0 and -l only ask."""
    words = list(argv[1:])
    signal = "TERM"
    targets: list[str] = []
    while words:
        word = words.pop(0)
        if word in ("-l", "-L", "--list", "--table"):
            return ()
        if word in ("-s", "--signal", "-n") and words:
            signal = words.pop(0)
        elif word == "--":
            targets.extend(words)
            break
        elif _SIGNAL.fullmatch(word) and not targets and signal == "TERM":
            signal = word[1:]
        else:
            targets.append(word)
    if signal in ("0", "EXIT"):
        return ()
    name = signal_name(signal)
    return tuple(reading("signal", Target(type="process", value=target), detail=name) for target in targets)


def read_pkill(argv: Sequence[str], cwd: str) -> Found:
    """pkill, killall: a pattern or a name signalled."""
    given = take_apart(
        [word for word in argv[1:] if not _SIGNAL.fullmatch(word)],
        {"-s", "--signal", "-u", "--user", "-t", "-P", "-g", "-G", "-U", "-o"},
    )
    signal = next((word[1:] for word in argv[1:] if _SIGNAL.fullmatch(word)), given.value("--signal") or "TERM")
    if signal == "0":
        return ()
    name = signal_name(signal)
    return tuple(reading("signal", Target(type="process", value=word), detail=name) for word in given.operands)
