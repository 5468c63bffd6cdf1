"""One command of a shell text, with all that is known of it before it runs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from overeager.contract.shim import Reading

Reach = Literal["certain", "possible"]


class ShellCommand(NamedTuple):
    """One simple command, or (with an empty argv) redirections alone."""

    argv: tuple[str, ...]
    cwd: str
    reached: Reach
    """certain = no condition stands before it, and no function, alias or builtin of that name takes its place."""
    external: bool
    """A program is started for it."""
    carried: bool
    """True = the whole text can only end with status 0 if this command ran and did so too."""
    readings: tuple[Reading, ...]
    """By its rule and its redirections."""
    text: str
    """As it stands in the text, at most 500 characters."""
    resolved: bool = True
    """Every word is known."""
    more_arguments: bool = False
    """Further arguments come from elsewhere."""
    nested: bool = False
    """Run by another command (`env`, `xargs`, `bash -c`)."""
    known: bool = True
    """There is a rule for it."""
    detail: str = ""
    """What its rule says of the exec itself (`push --force`)."""
