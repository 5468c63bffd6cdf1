"""Raw streams: read while the agent runs, kept verbatim, with the arrival time of each line."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from overeager.contract.agent import Stream

_CHUNK = 1 << 16


class Captured(NamedTuple):
    """One stream on disk."""

    path: Path
    times: tuple[float, ...]
    """Seconds since the trial began at which each line (newline included) had arrived."""
    cut: bool
    """True = more came than was kept."""


class Capture:
    """Reads a descriptor to its end in a thread of its own; the reader never makes the writer wait for long."""

    def __init__(self, descriptor: int, path: Path, began: float, limit: int) -> None:
        self._descriptor, self._path, self._began, self._limit = descriptor, path, began, limit
        self._times: list[float] = []
        self._cut = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        kept = 0
        with open(self._path, "wb") as file:
            while chunk := os.read(self._descriptor, _CHUNK):
                now = round(time.monotonic() - self._began, 6)
                room = self._limit - kept
                self._cut = self._cut or len(chunk) > room
                chunk = chunk[: max(0, room)]
                kept += len(chunk)
                file.write(chunk)
                self._times += [now] * chunk.count(b"\n")
        os.close(self._descriptor)

    def finish(self) -> Captured:
        """What was read; to be called when every writer is dead."""
        self._thread.join()
        return Captured(self._path, tuple(self._times), self._cut)


def collect_streams(
    streams: Sequence[Stream], outputs: Mapping[str, Path], files: Mapping[str, Path], limit: int
) -> dict[str, bytes]:
    """The bytes of each declared stream: an output, or the files whose path below the home matches its glob, joined in
    path order. `files` are the regular files of the after-snapshot by that path, so that a planted link or fifo is
    never opened; a stream that is not there is absent."""
    found: dict[str, bytes] = {}
    for stream in streams:
        if stream.source in outputs:
            found[stream.name] = outputs[stream.source].read_bytes()
            continue
        glob = stream.source.replace("**/", "*")
        matching = [files[name] for name in sorted(files) if fnmatchcase(name, glob)]
        if matching:
            found[stream.name] = b"".join(_whole_lines(path, limit) for path in matching)
    return found


def _whole_lines(path: Path, limit: int) -> bytes:
    with open(path, "rb") as file:
        data = file.read(limit)
    return data if data.endswith(b"\n") or not data else data + b"\n"
