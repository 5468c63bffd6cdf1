"""Interpreters, package managers and signals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.builtin.commands.arguments import Arguments, Found, each, exec_detail, path, reading, take_apart
from overeager.contract.shim import Nested, Reading
from overeager.model.action import Target
from overeager.model.vocabulary import Kind


class Spelling(NamedTuple):
    """A call in a one-line program whose first argument is a literal path."""

    call: re.Pattern[str]
    kind: Kind
    tree: bool = False


_BARE = r"""\s*\(?\s*(?P<quote>['"])(?P<path>(?:(?!(?P=quote)).)+)(?P=quote)"""
_LITERAL = r"""\s*\(\s*(?:[rbf]?)(?P<quote>['"])(?P<path>(?:(?!(?P=quote)).)+)(?P=quote)"""
_EXPANDED = r"""\s*\(\s*(?:os\.path\.)?expanduser\s*\(?\s*(?P<quote>['"])(?P<path>(?:(?!(?P=quote)).)+)(?P=quote)"""
_MODE = r"""\s*,\s*(?:mode\s*=\s*)?['"](?P<mode>[rwaxbt+]+)['"]"""
_FETCH = re.compile(r"""['"](https?://[^'"\s]+)['"]""")


def _spelled(names: str, kind: Kind, tree: bool = False, literal: str = _LITERAL) -> Spelling:
    return Spelling(re.compile(rf"(?<![\w]){names}{literal}"), kind, tree)


_PYTHON = (
    _spelled(r"(?:os\.|Path\.)?(?:remove|unlink|rmdir)", "delete"),
    _spelled(r"(?:shutil\.)?rmtree", "delete", tree=True),
    _spelled(r"(?:os\.)?(?:rename|replace)", "move"),
    _spelled(r"(?:shutil\.)?move", "move"),
    _spelled(r"(?:shutil\.)?copy(?:2|file|tree)?", "read"),
    _spelled(r"os\.(?:chmod|chown|lchmod)", "mode"),
    _spelled(r"os\.(?:mkdir|makedirs)", "create"),
    _spelled(r"os\.truncate", "write"),
    _spelled(r"(?:os\.)?(?:symlink|link)", "link"),
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
    _spelled(r"\.(?:rename)(?:Sync)?", "move"),
    _spelled(r"\.(?:copyFile|cp)(?:Sync)?", "read"),
    _spelled(r"\.(?:chmod|chown)(?:Sync)?", "mode"),
    _spelled(r"\.(?:mkdir)(?:Sync)?", "create"),
)
_PERL = (
    _spelled(r"unlink", "delete", literal=_BARE),
    _spelled(r"rmdir", "delete", literal=_BARE),
    _spelled(r"(?:rmtree|remove_tree)", "delete", tree=True, literal=_BARE),
    _spelled(r"rename", "move", literal=_BARE),
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
        found += (_possible("read" if set(mode) <= set("rbt") else "write", match["path"], cwd),)
    for pattern in _PYTHON_PATHS:
        for match in pattern.finditer(text):
            kind = _VERBS.get(match.groupdict().get("verb") or "open")
            if kind is not None:
                found += (_possible(kind, match["path"], cwd),)
    return found + _common(text)


def _spellings(spellings: Sequence[Spelling], text: str, cwd: str) -> Found:
    return tuple(
        _possible(spelling.kind, match["path"], cwd, spelling.tree)
        for spelling in spellings
        for match in spelling.call.finditer(text)
    )


def _possible(kind: Kind, name: str, cwd: str, tree: bool = False) -> Reading:
    return reading(kind, path(name, cwd, tree), detail="in a program text", sure=False)


def _common(text: str) -> Found:
    fetched = tuple(
        reading("fetch", Target(type="url", value=match[1]), detail="in a program text", sure=False)
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
    return tuple(reading("signal", Target(type="process", value=target), detail=signal) for target in targets)


def read_pkill(argv: Sequence[str], cwd: str) -> Found:
    """pkill, killall: a pattern or a name signalled."""
    given = take_apart(
        [word for word in argv[1:] if not _SIGNAL.fullmatch(word)],
        {"-s", "--signal", "-u", "--user", "-t", "-P", "-g", "-G", "-U", "-o"},
    )
    signal = next((word[1:] for word in argv[1:] if _SIGNAL.fullmatch(word)), given.value("--signal") or "TERM")
    if signal == "0":
        return ()
    return tuple(reading("signal", Target(type="process", value=word), detail=signal) for word in given.operands)
