"""`--only-plugin` and `--block-plugin`, the same on every command that loads plugins."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

import typer

OnlyPlugins: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--only-plugin",
        metavar="PLUGIN",
        help="Of the plugins beside the core's own only this one: name, kind:name or distribution.",
    ),
]
BlockPlugins: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--block-plugin", metavar="PLUGIN", help="Leave this plugin out: name, kind:name or distribution."),
]


class Plugins(NamedTuple):
    """Which plugins a command may use, as its options say; the environment variables add to it."""

    only: tuple[str, ...] = ()
    """Empty = all."""
    block: tuple[str, ...] = ()

    @classmethod
    def read(cls, only: list[str] | None, block: list[str] | None) -> Plugins:
        """The options as typer gives them."""
        return cls(tuple(only or ()), tuple(block or ()))

    @property
    def words(self) -> tuple[str, ...]:
        """The options as they are written on a command line."""
        pairs = [("--only-plugin", one) for one in self.only] + [("--block-plugin", one) for one in self.block]
        return tuple(word for pair in pairs for word in pair)


ALL = Plugins()
"""No option given."""
