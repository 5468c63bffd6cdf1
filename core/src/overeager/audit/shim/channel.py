"""The shim channel: the socket to which the shims send, and one record of `shim.jsonl` for each that comes."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from overeager.audit.journal import Journal, RecordFile, encode_fields
from overeager.audit.meeting import open_meeting
from overeager.audit.shim.record import ShimRecord, decode, split

_MOST_DATAGRAM = 1 << 18
_CREDENTIALS = struct.Struct("=iII")
_ANCILLARY = socket.CMSG_SPACE(_CREDENTIALS.size)
_MOST_RAW = 4096
"""Characters that are kept of what is no record."""


def open_socket(path: Path) -> socket.socket:
    """A datagram socket at `path` to which every user may send and that tells who sent."""
    return open_meeting(socket.SOCK_DGRAM, path, names_senders=True)


def open_pipe(path: Path) -> int:
    """A FIFO at `path` for shims that cannot send datagrams (the sh form); it never says end of file."""
    os.mkfifo(path)
    path.chmod(0o666)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


class ShimChannel:
    """Receives what the shims of one sandbox send; `path` is where they find us, `form` how they write.

    `find_inner` gives the host's pid for one inside, for the form whose writer the kernel does not name.
    """

    def __init__(self, journal: Journal, path: Path, form: str, find_inner: Callable[[int], int]) -> None:
        assert journal.shim is not None
        self._journal, self._find_inner = journal, find_inner
        self._file: RecordFile = journal.shim
        self._socket = open_socket(path) if form != "sh" else None
        self._pipe = -1 if form != "sh" else open_pipe(path)
        self._rest = b""

    def fileno(self) -> int:
        """The descriptor to poll."""
        return self._pipe if self._socket is None else self._socket.fileno()

    def close(self) -> None:
        """Be found no more."""
        if self._socket is not None:
            self._socket.close()
        else:
            os.close(self._pipe)

    def drain(self) -> None:
        """Record all that has come."""
        if self._socket is None:
            self._drain_pipe()
        else:
            self._drain_socket(self._socket)

    def _drain_socket(self, receiver: socket.socket) -> None:
        while True:
            try:
                data, ancillary, _, _ = receiver.recvmsg(_MOST_DATAGRAM, _ANCILLARY)
            except BlockingIOError:
                return
            self._record(data, _sender(ancillary))

    def _drain_pipe(self) -> None:
        while True:
            try:
                data = os.read(self._pipe, 1 << 16)
            except BlockingIOError:
                return
            whole, self._rest = split(self._rest + data)
            self._rest = self._rest[-_MOST_DATAGRAM:]
            for record in whole:
                told = decode(record)
                self._record(record, self._find_inner(told.pid) if told else 0)

    def _record(self, data: bytes, pid: int) -> None:
        number, now = self._journal.next(), self._journal.now()
        told = encode_fields(describe(decode(data), data))
        self._file.write(f'{{"n":{number},"t":{now:.6f},"pid":{pid},{told}}}\n')


def describe(record: ShimRecord | None, data: bytes) -> dict[str, object]:
    """What is kept of one call, or of the bytes that no shim sends."""
    if record is None:
        return {"raw": os.fsdecode(data[:_MOST_RAW])}
    return {
        "command": record.command,
        "argv": record.argv,
        "cwd": record.cwd,
        "inside": {"pid": record.pid, "ppid": record.ppid, "sid": record.sid},
        "cut": record.cut,
    }


def _sender(ancillary: list[tuple[int, int, bytes]]) -> int:
    """The sender's pid as the kernel vouches for it, in our numbers; 0 = not told."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            return int(_CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0])
    return 0
