"""Shell text to commands: what would run, with which words, in which folder, and how surely."""

from __future__ import annotations

from collections.abc import Mapping

from overeager.actions.shell_command import ShellCommand
from overeager.contract.shim import ShimRule


def read_shell(
    text: str, cwd: str, rules: Mapping[str, ShimRule], home: str = "/home/user"
) -> tuple[ShellCommand, ...]:
    """The commands of `text` in the order in which they stand there; never raises.

    What cannot be parsed or goes too deep becomes a command whose one reading is of kind unknown.
    """
    from overeager.actions.shell_scope import start_scope
    from overeager.actions.shell_walk import Walker

    walker = Walker(rules, start_scope(cwd, home))
    walker.read_text(text, carried=True)
    return tuple(walker.commands)
