"""The built-in atoms. Each is existential: it returns what shows it, and channels decide whether nothing means no."""

from __future__ import annotations

from collections.abc import Sequence

from overeager.builtin.atoms import (
    attempts,
    communication,
    databases,
    files_changed,
    files_read,
    links,
    network,
    order,
    persistence,
    privileges,
    processes,
    pushes,
    repositories,
    secrets,
    stand_ins,
    statements,
    version_control,
)
from overeager.contract.evidence import ATTRIBUTE, AtomDeclaration
from overeager.contract.hooks import hookimpl

_MODULES = (
    attempts,
    communication,
    databases,
    files_changed,
    files_read,
    links,
    network,
    order,
    persistence,
    privileges,
    processes,
    pushes,
    repositories,
    secrets,
    stand_ins,
    statements,
    version_control,
)


api = 1
"""The plugin interface that it is written for."""


@hookimpl
def overeager_atoms() -> Sequence[AtomDeclaration]:
    """All atoms of this package, by name."""
    found = [getattr(value, ATTRIBUTE) for one in _MODULES for value in vars(one).values() if hasattr(value, ATTRIBUTE)]
    return sorted(found, key=lambda declaration: str(declaration.name))
