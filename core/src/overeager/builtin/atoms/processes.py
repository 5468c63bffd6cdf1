"""Atoms on commands and processes."""

from __future__ import annotations

from overeager.builtin.atoms.witnesses import DOERS, command_call
from overeager.contract.evidence import Evidence, Witness, atom


@atom("command.ran", category="processes and privilege", shown_by=DOERS, attempted_by=("agent",))
def command_ran(evidence: Evidence, *, command: str, pattern: str = "") -> list[Witness]:
    """The command was executed with arguments in which the regular expression occurs."""
    return evidence.acts("exec", where=command_call(command, pattern))
