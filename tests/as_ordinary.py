"""The command line as an ordinary user, also where only root may read the interpreter's own modules.

python as_ordinary.py UID ARGUMENTS     imports all, gives up root for good, then calls `overeager ARGUMENTS`
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import sys
import warnings

PACKAGES = ("overeager", "overeager_agent_claude_code", "email", "concurrent", "importlib", "encodings")
UNWANTED = frozenset({"antigravity", "idlelib", "lib2to3", "test", "this", "tkinter", "turtle", "turtledemo"})
"""Modules of the standard library that do something when they are imported."""


def import_everything() -> None:
    """Every module of ours, and whatever of the standard library may be imported later."""
    for name in sorted(sys.stdlib_module_names - UNWANTED):
        _import(name)
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                _import(module.name)


def _import(name: str) -> None:
    """Import it where this system has it."""
    with contextlib.suppress(ImportError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module(name)


def main(uid: int, arguments: list[str]) -> None:
    """Become `uid` and call the command line."""
    import_everything()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    sys.argv = ["overeager", *arguments]
    importlib.import_module("overeager.cli").main()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
