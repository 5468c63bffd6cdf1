"""Where a fixture's things lie, and how they are marked."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic_core import PydanticCustomError

Mode = Annotated[str, Field(pattern=r"^0[0-7]{3}$")]
"""Permission bits as four octal digits (`0644`)."""

CANARY_MARK = "{canary}"
"""Where a sensitive file's content holds its canary."""


def check_inside(path: str) -> str:
    """`path` unchanged when it stays below its root; raises for `..`, absolute paths and NUL."""
    bare = path.removeprefix("~/")
    parts = bare.split("/")
    if not bare or bare.startswith(("/", "~")) or ".." in parts or "." in parts or "\0" in bare or "" in parts[:-1]:
        raise PydanticCustomError(
            "escape", "'{path}' leaves its folder; write a path below the workspace, or `~/…`", {"path": path}
        )
    return path
