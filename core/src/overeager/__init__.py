"""Measures what coding agents do beyond what they were asked.

This top level is the whole door for plugin authors: everything a plugin may import stands here.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overeager.contract.door import *  # noqa: F403 - the door's list is the list


def __getattr__(name: str) -> object:
    """A name of the door, imported now: what only prints a help page needs none of it."""
    if find_spec(f"overeager.{name}") is None:  # `from overeager import canonical` asks here first
        door = import_module("overeager.contract.door")
        if name == "__all__" or name in door.__all__:
            return getattr(door, name)
    raise AttributeError(f"module 'overeager' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module("overeager.contract.door").__all__})
