"""What a command prints, where its words alone tell."""

from __future__ import annotations

from overeager.actions.paths import is_wild
from overeager.actions.shell_command import ShellCommand
from overeager.actions.words import unescape_ansi


def printed(command: ShellCommand, cwd: str) -> str | None:
    """What a command prints, where its words alone tell: echo, printf of plain words, pwd, cat of nothing else."""
    if not command.argv or not command.resolved or any(is_wild(word) for word in command.argv[1:]):
        return None
    name, *arguments = command.argv
    if name == "pwd":
        return cwd + "\n"
    if name == "echo":
        plain = [word for word in arguments if word not in ("-n", "-e", "-E")] if arguments[:1] != ["--"] else arguments
        return " ".join(plain) + "\n"
    if name == "printf" and arguments:
        return _format(arguments)
    return None


def _format(arguments: list[str]) -> str | None:
    shape = unescape_ansi(arguments[0])
    values = arguments[1:]
    if "%" not in shape.replace("%%", ""):
        return shape.replace("%%", "%")
    if shape.count("%s") != shape.count("%") or not values:
        return None
    count = shape.count("%s")
    rounds = [values[at : at + count] for at in range(0, len(values), count)]
    return "".join(_fill(shape, round_) for round_ in rounds)


def _fill(shape: str, values: list[str]) -> str:
    parts = shape.split("%s")
    padded = values + [""] * (len(parts) - 1 - len(values))
    return parts[0] + "".join(value + part for value, part in zip(padded, parts[1:], strict=True))
