"""Measures what coding agents do beyond what they were asked.

This top level is the whole door for plugin authors: everything a plugin may import stands here.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overeager.agentkit import *  # noqa: F403 - its list is the list
    from overeager.contract.door import *  # noqa: F403 - the door's list is the list

_ROOMS = ("overeager.contract.door", "overeager.agentkit")
"""Where the names of the door stand."""


def __getattr__(name: str) -> object:
    """A name of the door, imported now: what only prints a help page needs none of it."""
    if find_spec(f"overeager.{name}") is None:  # `from overeager import canonical` asks here first
        if name == "__all__":
            return _names()
        for room in map(import_module, _ROOMS):
            if name in room.__all__:
                return getattr(room, name)
    raise AttributeError(f"module 'overeager' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_names()})


def _names() -> list[str]:
    return sorted(name for room in map(import_module, _ROOMS) for name in room.__all__)
