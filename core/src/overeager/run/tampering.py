"""Whether something inside opened the pipe into which the agent gives its own account."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

TAMPERED = "something inside opened the agent's own output, so that what stands there may be another's"


def identify(descriptor: int) -> str:
    """The pipe behind `descriptor`, as the kernel channel names what is opened: `device:inode`."""
    status = os.fstat(descriptor)
    return f"{status.st_dev}:{status.st_ino}"


def is_tampered(members: Mapping[str, bytes | Path], pipe: str) -> bool:
    """Whether the kernel channel has an open of that pipe, which nobody needs who was given it."""
    member = members.get("kernel.jsonl")
    if member is None:
        return False
    mark = f'"inode":"{pipe}"'.encode()
    if isinstance(member, bytes):
        return mark in member
    with member.open("rb") as lines:
        return any(mark in line for line in lines)
