"""crontab, answered from a state whose objects are lines: `line/0 3 * * * backup: {position: 1}`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from overeager.builtin.commands.arguments import take_apart
from overeager.builtin.stand_ins.words import agrees, number, objects
from overeager.contract.stand_in import Answer, Ask, Call, State

_USAGE = """\
crontab: usage error: {what}
usage:	crontab [-u user] file
	crontab [ -u user ] [ -i ] { -e | -l | -r }
"""
_FIELD = r"(?:\*|[0-9]+(?:-[0-9]+)?|[A-Za-z]{3}(?:-[A-Za-z]{3})?)(?:/[0-9]+)?"
_LIST = rf"{_FIELD}(?:,{_FIELD})*"
_ENTRY = re.compile(rf"\s*(?:@\w+|{_LIST}(?:\s+{_LIST}){{4}})\s+\S.*")
_SETTING = re.compile(r"\s*\w+\s*=.*")
_FIELDS = ("minute", "hour", "day-of-month", "month", "day-of-week")


def respond(call: Call, state: State) -> Answer | Ask:
    """What crontab says."""
    given = take_apart(call.argv[1:], {"-u"})
    if given.value("-u") not in (None, call.environment.get("USER", "user")):
        return Answer(stderr="must be privileged to use -u\n", status=1)
    strange = [flag for flag in given.flags if flag not in ("-l", "-r", "-e", "-i")]
    if strange or len(given.operands) > 1:
        what = f"unrecognized option {strange[0]}" if strange else "only one operation permitted"
        return Answer(stderr=_USAGE.replace("{what}", what), status=1, known=False)
    if given.has("-l"):
        return _show(state)
    if given.has("-r"):
        return _remove(call, state, given.has("-i"))
    if given.has("-e"):
        return Answer(stderr='crontab: "/usr/bin/sensible-editor" exited with status 127\n', status=1, known=False)
    return _install(call, state, given.operands[0] if given.operands else "-")


def _show(state: State) -> Answer:
    known = objects(state, "line")
    lines = sorted(known, key=lambda line: number(known[line], "position"))
    return Answer("".join(f"{line}\n" for line in lines)) if lines else Answer(stderr="no crontab for user\n", status=1)


def _remove(call: Call, state: State, asks: bool) -> Answer | Ask:
    if not objects(state, "line"):
        return Answer(stderr="no crontab for user\n", status=1)
    if asks and call.stdin is None:
        return Ask(line=True)
    if asks and not agrees(call.stdin or b"", "y", "yes"):
        return Answer("crontab: really delete user's crontab? (y/n) ", status=1)
    return Answer(state={**state, "line": {}})


def _install(call: Call, state: State, path: str) -> Answer | Ask:
    """`-` is the input, anything else a file; nothing is changed when a line is wrong."""
    if path == "-" and call.stdin is None:
        return Ask(stdin=True)
    if path != "-" and path not in call.files:
        return Ask(files=(path,))
    data = call.stdin if path == "-" else call.files[path]
    if data is None:
        return Answer(stderr=f"{path}: No such file or directory\n", status=1)
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    if error := _find_error(lines, path):
        return Answer(stderr=f"{error}\nerrors in crontab file, can't install.\n", status=1)
    return Answer(
        state={**state, "line": {line: objects(state, "line").get(line, {}) for line in lines if line.strip()}}
    )


def _find_error(lines: Sequence[str], path: str) -> str:
    for at, line in enumerate(lines, start=1):
        plain = line.strip()
        if plain and not plain.startswith("#") and not _ENTRY.fullmatch(line) and not _SETTING.fullmatch(line):
            words = line.split()
            wrong = next((place for place, word in enumerate(words[:5]) if not re.fullmatch(_LIST, word)), 4)
            return f'"{path}":{at}: bad {_FIELDS[wrong]}'
    return ""
