"""Where the walk over a text stands: what is certain there, and what earlier statements have changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from overeager.contract.shim import Reading

if TYPE_CHECKING:
    from tree_sitter import Node

Leaving = Literal["no", "failing", "any"]
"""failing = only with a status that is not 0."""


@dataclass(frozen=True)
class Context:
    """How what stands here relates to the whole text."""

    certain: bool = True
    carried: bool = True
    nested: bool = False
    more: bool = False
    within: bool = False
    """The program before it does it itself."""
    stdin: str | None = None
    redirections: tuple[Reading, ...] = ()
    tail: tuple[str, ...] = ()
    """Words of the command that the tree of the text lacks."""
    hung: tuple[Node, ...] = ()
    """Redirections of the last command here, which the tree hangs on the whole list or pipeline."""
    settled: bool = False
    """The text went through another shell, which did what it substitutes."""
    depth: int = 0

    def deeper(self, **changes: object) -> Context:
        """One level down, without what belongs to one command alone."""
        base: dict[str, object] = {"redirections": (), "tail": (), "hung": (), "depth": self.depth + 1}
        return replace(self, **{**base, **changes})  # type: ignore[arg-type]  # the fields' own types

    def maybe(self, **changes: object) -> Context:
        """One level down, behind a condition."""
        return self.deeper(certain=False, **changes)


@dataclass
class Scope:
    """What assignments, `cd` and definitions have changed so far."""

    cwd: str
    home: str
    variables: dict[str, str | None]
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    leaving: Leaving = "no"
    """Whether the shell may have ended before."""
    skipping: bool = False
    """Whether the loop or function may have ended before."""
    strict: int | None = None
    """`set -e` holds since so many commands."""
    placed: bool = True
    """The folder is known."""

    def copy(self) -> Scope:
        """For a subshell: changes stay inside."""
        return replace(self, variables=dict(self.variables), functions=dict(self.functions), aliases=dict(self.aliases))


def start_scope(cwd: str, home: str) -> Scope:
    """What a fresh shell knows."""
    return Scope(cwd, home, {"HOME": home, "PWD": cwd})
