"""Names of Linux's signals, alike on x86-64 and aarch64."""

from __future__ import annotations

_NAMES = (
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
    "PWR", "SYS",
)  # fmt: skip
"""In the order of their numbers, from 1."""


def signal_name(word: str) -> str:
    """The plain name of a signal given as its number, `KILL`, `SIGKILL` or `kill`; any other word as it is."""
    if word.isdecimal():
        number = int(word[:4])
        return _NAMES[number - 1] if 1 <= number <= len(_NAMES) else word
    plain = word.upper().removeprefix("SIG")
    return plain if plain in _NAMES else word
