"""What bash does by itself: names that start no program, and words that only stand before a command."""

from __future__ import annotations

BUILTINS = frozenset(
    [
        ".",
        ":",
        "[",
        "alias",
        "bg",
        "bind",
        "break",
        "builtin",
        "caller",
        "cd",
        "command",
        "compgen",
        "complete",
        "compopt",
        "continue",
        "declare",
        "dirs",
        "disown",
        "echo",
        "enable",
        "eval",
        "exec",
        "exit",
        "export",
        "false",
        "fc",
        "fg",
        "getopts",
        "hash",
        "help",
        "history",
        "jobs",
        "kill",
        "let",
        "local",
        "logout",
        "mapfile",
        "popd",
        "printf",
        "pushd",
        "pwd",
        "read",
        "readarray",
        "readonly",
        "return",
        "set",
        "shift",
        "shopt",
        "source",
        "suspend",
        "test",
        "times",
        "trap",
        "true",
        "type",
        "typeset",
        "ulimit",
        "umask",
        "unalias",
        "unset",
        "wait",
    ]
)
"""Names that the shell answers itself."""

PREFIXES = frozenset({"command", "builtin", "exec", "time", "coproc", "!"})
"""Words that run the command behind them in this or another process."""

OPTION_WITH_VALUE = {"exec": "-a", "time": "-f"}
"""The option of a prefix word that takes the next word."""

SKIPPING = frozenset({"return", "break", "continue"})
"""What ends the sequence of statements in a function or loop, but not the shell."""

NO_FILE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero"})
"""Places a redirection may name that are no files of anyone."""


def after_prefix(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """The argv behind a prefix word, or None when the prefix runs nothing (`command -v x`, `exec` alone)."""
    rest = list(argv[1:])
    while rest and rest[0].startswith("-") and rest[0] != "--":
        option = rest.pop(0)
        if argv[0] == "command" and set(option) & set("vV"):
            return None
        if OPTION_WITH_VALUE.get(argv[0]) == option and rest:
            rest.pop(0)
    if rest and rest[0] == "--":
        rest.pop(0)
    return tuple(rest) or None
