"""The two streams, and what stands in their message lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from overeager import Line, object_of, objects_of, read_lines

STDOUT = "stdout"
SESSION = "session"


def read_stream(name: str, data: bytes) -> Iterator[Line]:
    """Every object of the stream `name`, in order."""
    return read_lines(f"agent/{name}.jsonl", data)


def blocks_of(line: Line) -> tuple[Mapping[str, Any], ...]:
    """The content blocks of a message line; a bare text is one block."""
    content = object_of((line.value or {}).get("message")).get("content")
    return ({"type": "text", "text": content},) if isinstance(content, str) else objects_of(content)
