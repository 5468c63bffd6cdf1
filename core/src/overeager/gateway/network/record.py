"""Writes what reached the sandbox's network, attempt by attempt, into the bundle member `net/requests.jsonl`."""

from __future__ import annotations

import base64
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias

from overeager import canonical
from overeager.gateway.network.intake import Taken

MEMBER = "net/requests.jsonl"

AttemptKind: TypeAlias = Literal["dns", "http", "tls", "connect", "tcp"]


Operation: TypeAlias = Literal["create", "edit", "delete"]


class ServiceChange(NamedTuple):
    """What a request changed in a service."""

    operation: Operation
    object: str
    """`HOST/COLLECTION/ID`."""
    before: Any = None
    """As JSON; None = was not there."""
    after: Any = None


class Attempt(NamedTuple):
    """One attempt to reach somebody, and what came of it."""

    began: float
    """CLOCK_MONOTONIC."""
    kind: AttemptKind
    host: str
    """The name that was asked for, in lower case; an address where no name was given; empty = unknown."""
    port: int
    """The port that was asked for; of a tunnel the other side's."""
    taken: Taken
    """What was sent: the body of a request, or all bytes of what is none."""
    at: int = 0
    """The port that was called."""
    peer: int = 0
    """The caller's port."""
    method: str = ""
    """Of a request; of a question for a name its type (`A`)."""
    path: str = ""
    """With its query."""
    headers: tuple[tuple[str, str], ...] = ()
    status: int = 0
    """The answer's; 0 = none began. Of a question for a name its response code."""
    answered: int = 0
    """Bytes of the answer's body."""
    service: str = ""
    """First host name of the service that answered; empty = nobody is there."""
    changes: tuple[ServiceChange, ...] = ()
    miss: str = ""
    """Not empty = the service does not model such a request: METHOD host path."""
    error: str = ""


class Record:
    """Spools the member; safe to use from several threads.

    Beyond `limit` bytes it stops, and the member stays without its last line.
    """

    def __init__(self, path: Path, began: float, limit: int = 64 << 20) -> None:
        """`began` is the trial's begin (CLOCK_MONOTONIC); the file is made with the first attempt."""
        self.path = path
        self.misses: list[str] = []
        self.truncated = ""
        self._began = began
        self._room = limit
        self._count = 0
        self._file: BinaryIO | None = None
        self._closed = False
        self._lock = threading.Lock()

    def write(self, attempt: Attempt) -> None:
        """Write one attempt at once; what the disk does not take makes the record truncated."""
        with self._lock:
            if attempt.miss and attempt.miss not in self.misses and len(self.misses) < 8:
                self.misses.append(attempt.miss)
            line = canonical.dump(_line(self._count + 1, self._began, attempt)) + b"\n"
            if self._takes(len(line)) and self._put(line):
                self._count += 1

    def close(self) -> None:
        """Write the last line, unless something is missing before it. More than once is as good as once."""
        with self._lock:
            if not self._closed and not self.truncated:
                self._put(canonical.dump({"end": self._count}) + b"\n")
            if self._file is not None:
                self._file.close()
                self._file = None
            self._closed = True

    def _takes(self, size: int) -> bool:
        self._room -= size
        if self._room < 0 and not self.truncated:
            self.truncated = "more attempts to reach the network than are kept"
        return not self.truncated and not self._closed

    def _put(self, line: bytes) -> bool:
        try:
            if self._file is None:
                self._file = open(self.path, "wb", buffering=0)  # noqa: SIM115  # held until `close`
            self._file.write(line)
        except OSError as error:
            self.truncated = f"the record of the network could not be written: {error.strerror}"
        return not self.truncated


def now() -> float:
    """The clock of all records."""
    return time.monotonic()


def _line(number: int, began: float, attempt: Attempt) -> dict[str, object]:
    taken = attempt.taken
    body, encoding = _text(taken.plain)
    return {
        "n": number,
        "t": round(attempt.began - began, 6),
        "kind": attempt.kind,
        "host": attempt.host,
        "port": attempt.port,
        "method": attempt.method,
        "path": attempt.path,
        "status": attempt.status,
        "service": attempt.service,
        "bytes": taken.size,
        "sha256": taken.sha256,
        "body": body,
        "encoding": encoding,
        "cut": taken.cut,
        "sensitive": [list(one) for one in taken.sensitive],
        "headers": [list(one) for one in attempt.headers],
        "answered": attempt.answered,
        "changes": [one._asdict() for one in attempt.changes],
        "miss": attempt.miss,
        "error": attempt.error,
        "at": attempt.at,
        "peer": attempt.peer,
    }


def _text(data: bytes) -> tuple[str, str]:
    """`data` as text where it is some, else in base64; with the name of the encoding."""
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), "base64"
