"""The two record files of one trial, in one total order."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from overeager.contract.effects import RecorderHealth

BUFFER = 1 << 16
MOST_BYTES = 1 << 27
"""What one record file may hold; an agent can make records without end."""

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""ASCII only: bytes that are no UTF-8 stay `\\udcXX`."""
encode_text = json.encoder.encode_basestring_ascii


def encode_bytes(data: bytes) -> str:
    """A path as a JSON string."""
    return encode_text(data.decode("utf-8", "surrogateescape"))


def encode_fields(fields: Mapping[str, object]) -> str:
    """The text between the braces of a JSON object."""
    return _encode(fields)[1:-1]


class RecordFile:
    """One JSON Lines file that ends in its count, or is known to be truncated."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] | None = open(path, "wb", buffering=BUFFER)  # noqa: SIM115  # held for the trial
        self.count = 0
        self.room = MOST_BYTES
        """Bytes that it may still take."""
        self.failure = ""

    def write(self, line: str) -> None:
        """Append `line`; the first failure truncates the file for good."""
        if self._file is None:
            return
        self.room -= len(line)
        if self.room < 0:
            self.fail_with(0)
            return
        try:
            self._file.write(line.encode())
            self.count += 1
        except OSError as error:
            self.fail_with(error.errno or errno.EIO)

    def flush(self) -> None:
        """Bring what is buffered to the file."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError as error:
                self.fail_with(error.errno or errno.EIO)

    def fileno(self) -> int:
        """Its descriptor, as long as it is open."""
        assert self._file is not None
        return self._file.fileno()

    def end(self) -> RecorderHealth:
        """Write the last line and close; whether all is there."""
        if self._file is not None:
            try:
                self._file.write(b'{"end":%d}\n' % self.count)
                self._file.close()
            except OSError as error:
                self.fail_with(error.errno or errno.EIO)
        self._file = None
        return RecorderHealth("truncated", self.failure) if self.failure else RecorderHealth("present", "")

    def fail_with(self, number: int) -> None:
        """Take no more: there is no room (0), or writing failed with the errno `number`."""
        self.failure = f"a record could not be written: {os.strerror(number)}"
        if number == 0:
            self.failure = f"more than {MOST_BYTES >> 20} MiB of records"
        self._file = None


class Journal:
    """Numbers and times the records of both channels."""

    def __init__(self, began: float, kernel: Path | None, shim: Path | None) -> None:
        self.began = began
        self.number = 0
        """Of the last record of both channels."""
        self.kernel = RecordFile(kernel) if kernel else None
        self.shim = RecordFile(shim) if shim else None

    def now(self) -> float:
        """Seconds since the trial began."""
        return time.monotonic() - self.began

    def next(self) -> int:
        """The next number of both channels."""
        self.number += 1
        return self.number

    def flush(self) -> None:
        """Bring what is buffered to the files."""
        for file in (self.kernel, self.shim):
            if file is not None:
                file.flush()

    def descriptors(self) -> tuple[int, ...]:
        """Those of the open files."""
        return tuple(file.fileno() for file in (self.kernel, self.shim) if file is not None)
