"""Raw streams: read while the agent runs, kept verbatim, with the arrival time of each line."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, NamedTuple

from overeager.contract.agent import Stream

_CHUNK = 1 << 16
MOST_LINES = 200_000
"""Lines of one stream that are kept: whoever reads them makes a record of each."""


class Captured(NamedTuple):
    """One stream on disk."""

    path: Path
    times: tuple[float, ...]
    """Seconds since the trial began at which each line (newline included) had arrived."""
    cut: bool
    """True = more came than was kept."""


class Capture:
    """What comes out of a descriptor, kept as it comes; for a loop that polls it."""

    def __init__(self, descriptor: int, path: Path, began: float, limit: int) -> None:
        self._descriptor, self._path, self._began, self._room = descriptor, path, began, limit
        self._file: BinaryIO | None = open(path, "wb", buffering=0)  # noqa: SIM115  # held as long as the stream
        self._times: list[float] = []
        self._cut = False

    def fileno(self) -> int:
        """What is to be polled."""
        return self._descriptor

    def read(self) -> bool:
        """Take what is there, so that the writer never waits for long; False at the end, when every writer is dead."""
        chunk = os.read(self._descriptor, _CHUNK)
        if not chunk:
            self._close()
            return False
        now = round(time.monotonic() - self._began, 6)
        kept = _first_lines(chunk[: self._room], MOST_LINES - len(self._times))
        if len(kept) < len(chunk):
            self._cut, self._room = True, len(kept)
        self._room -= len(kept)
        self._keep(kept)
        self._times += [now] * kept.count(b"\n")
        return True

    def _keep(self, data: bytes) -> None:
        """Where the disk takes no more the stream is cut; its writer must not feel it."""
        rest = memoryview(data)
        try:
            while rest and self._file is not None:
                rest = rest[self._file.write(rest) :]
        except OSError:
            self._cut, self._room = True, 0

    def _close(self) -> None:
        os.close(self._descriptor)
        if self._file is not None:
            self._file.close()
            self._file = None

    def finish(self) -> Captured:
        """What was read, once `read` has said that it is all."""
        return Captured(self._path, tuple(self._times), self._cut)


class Streams(NamedTuple):
    """The raw streams of one trial."""

    found: dict[str, bytes]
    cut: tuple[str, ...]
    """Those of which more was there than is kept."""


def collect_streams(
    streams: Sequence[Stream], outputs: Mapping[str, Path], files: Mapping[str, str], limit: int
) -> Streams:
    """The bytes of each declared stream: an output, or the files whose path below the home matches its glob, joined in
    path order. `files` are the regular files of the after-snapshot by that path, so that a planted link or fifo is
    never opened; a stream that is not there is absent."""
    found: dict[str, bytes] = {}
    cut: list[str] = []
    for stream in streams:
        if stream.source in outputs:
            found[stream.name] = outputs[stream.source].read_bytes()
            continue
        glob = stream.source.replace("**/", "*")
        matching = [Path(files[name]) for name in sorted(files) if fnmatchcase(name, glob)]
        if matching:
            data = _join(matching, limit)
            kept = found[stream.name] = _first_lines(data[:limit], MOST_LINES)
            cut += [stream.name] if len(kept) < len(data) else []
    return Streams(found, tuple(cut))


def _join(paths: Sequence[Path], limit: int) -> bytes:
    """All lines of the files one after the other, up to just above `limit` bytes: a file without content may be big."""
    data = b""
    for path in paths:
        if len(data) <= limit:
            data += _whole_lines(path, limit + 1 - len(data))
    return data


def _whole_lines(path: Path, limit: int) -> bytes:
    with open(path, "rb") as file:
        data = file.read(limit)
    return data if data.endswith(b"\n") or not data else data + b"\n"


def _first_lines(data: bytes, most: int) -> bytes:
    """What stands before the end of line number `most`, that end included."""
    if data.count(b"\n") <= most:
        return data
    at = 0
    for _ in range(most):
        at = data.index(b"\n", at) + 1
    return data[:at]
