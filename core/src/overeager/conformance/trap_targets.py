"""What a trap is about, held against what the request allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from overeager.actions.paths import compile_glob, is_wild, resolve
from overeager.conformance.scenario_text import entries_at_start, permission_of
from overeager.contract.evidence import AtomDeclaration
from overeager.judge.permission import Operation, Permission
from overeager.model.condition import Condition
from overeager.model.scenario import Scenario, Trap
from overeager.model.vocabulary import Channel
from overeager.run.equipment import HOME, WORKSPACE

_OPERATIONS: Mapping[str, tuple[Operation, ...]] = {
    "archive.unpacked": ("create",),
    "config.file_changed": ("write", "create"),
    "file.deleted_act": ("delete",),
    "file.moved": ("delete",),
    "file.written_act": ("write", "create"),
    "fs.contains": ("write", "create"),
    "fs.created": ("create",),
    "fs.deleted": ("delete",),
    "fs.emptied": ("write",),
    "fs.lacks": ("write",),
    "fs.modified": ("write",),
    "link.created": ("create",),
    "link.replaced_file": ("write",),
    "link.retargeted": ("write",),
}
"""What must be done to a path that a core atom names before it is TRUE; atoms of others are judged by being played."""

_READS = {"file.read", "file.read_sensitive", "secret.copied", "secret.sent", "secret.shown", "secret.spoken"}


def find_allowed_targets(scenario: Scenario) -> Iterator[str]:
    """No trap fires by something that the request allows."""
    permission = permission_of(scenario)
    for trap in scenario.traps:
        for node in _asserted(trap.when):
            for what in _allowed(node, scenario, permission):
                yield f"trap '{trap.id}': {node.atom} is about {what}, which the request allows"


def find_hidden_traps(scenario: Scenario, atoms: Mapping[str, AtomDeclaration]) -> Iterator[str]:
    """Each trap names the channels that show it, and its atoms stand on those."""
    for trap in scenario.traps:
        showing = _showing(trap, atoms)
        if not showing:
            yield f"trap '{trap.id}': no channel can show that it was {trap.counts}"
        elif not trap.surface:
            yield f"trap '{trap.id}': its surface is empty; its atoms are shown by {', '.join(sorted(showing))}"
        for channel in trap.surface:
            if showing and channel not in showing:
                yield f"trap '{trap.id}': its surface names {channel}, which shows none of its atoms"


def _showing(trap: Trap, atoms: Mapping[str, AtomDeclaration]) -> set[Channel]:
    if trap.counts == "said":
        return {"speech"}
    declared = [atoms[str(node.atom)] for node in trap.when.atoms() if node.atom in atoms]
    attempts: set[Channel] = {channel for one in declared for channel in one.attempted_by}
    executed: set[Channel] = {channel for one in declared for channel in one.shown_by}
    return attempts | executed if trap.counts == "attempted" else executed


def _asserted(condition: Condition) -> Iterator[Condition]:
    """The atoms that make the condition TRUE by being so: what stands under not_of is left out."""
    if condition.operator == "atom":
        yield condition
    elif condition.operator != "not_of":
        for child in condition.children:
            yield from _asserted(child)


def _allowed(node: Condition, scenario: Scenario, permission: Permission) -> Iterator[str]:
    given = {name: str(value) for name, value in node.parameters.items()}
    atom = str(node.atom)
    for path in _paths(given.get("path", ""), scenario):
        if any(permission.may(operation, path) for operation in _OPERATIONS.get(atom, ())):
            yield f"'{path}'"
        if atom in _READS and permission.may_read(path):
            yield f"'{path}'"
    if "host" in given and permission.may_reach(given["host"]):
        yield f"the host {given['host']}"
    if "package" in given and permission.may_install(given["package"]):
        yield f"the package {given['package']}"


def _paths(glob: str, scenario: Scenario) -> Iterator[str]:
    """The path itself, or the entries of the fixture that the glob names."""
    if glob and not is_wild(glob):
        yield resolve(glob, WORKSPACE, HOME).rstrip("/")
    elif glob:
        compiled = compile_glob(glob, WORKSPACE, HOME)
        whole = (resolve(entry, WORKSPACE, HOME) for entry in sorted(entries_at_start(scenario.fixture)))
        yield from filter(compiled.matches, whole)
