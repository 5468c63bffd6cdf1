"""Server-sent events, read piece by piece (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """One event of a stream."""

    name: str
    data: str


class EventReader:
    """Turns chunks, cut anywhere, into events; an unfinished event above `limit` bytes is given up."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self.overflowed = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that `chunk` completes."""
        if self.overflowed:
            return []
        self._pieces.append(chunk)
        self._size += len(chunk)
        if b"\n" not in chunk:
            return self._bounded()
        text = b"".join(self._pieces).replace(b"\r\n", b"\n")
        whole, mark, rest = text.rpartition(b"\n\n")
        self._pieces, self._size = [rest], len(rest)
        events = [read_event(block) for block in whole.split(b"\n\n")] if mark else []
        return [event for event in events if event is not None] + self._bounded()

    def _bounded(self) -> list[Event]:
        if self._size > self._limit:
            self.overflowed, self._pieces, self._size = True, [], 0
        return []


def read_event(block: bytes) -> Event | None:
    """The event of the lines between two blank lines; None when they carry no data."""
    name, data = "message", []
    for line in block.decode("utf-8", "replace").split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
    return Event(name, "\n".join(data)) if data else None
