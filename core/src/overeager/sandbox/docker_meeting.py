"""How the host and the first process of a container come together: an order with descriptors, sockets in return."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from overeager.contract.effects import Listener, Opening, SandboxPlan
from overeager.errors import OvereagerError

ADDRESS = "/run/systemd/private"
"""Where the first process finds us; first.c knows it. Such a socket lies there on real machines."""
ADDRESS_NAME = "private"
"""The same in `Room.run`."""

_ORDER = struct.Struct("=4I")
"""first.c reads it: bytes of the filter, number of openings, of arguments, of variables."""
_OPENING = struct.Struct("=H2s4s")
_ERROR = struct.Struct("=i")
_CREDENTIALS = struct.Struct("=iII")
_TYPES = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}
_MOST_TEXT, _MOST_WORDS, _MOST_SOCKETS = 4 << 20, 1 << 16, 200
"""What first.c has room for."""
_NR_PIDFD_GETFD = 438


class Handed(NamedTuple):
    """Descriptors that the first process gets; the streams become the agent's."""

    stdin: int
    stdout: int
    stderr: int
    go: int
    """One byte lets the agent start, the end of file makes the container leave."""
    status: int
    """It writes the listener's number, then the agent's exit status there."""


class Met(NamedTuple):
    """A container whose first process has come."""

    pid: int
    """Of that process, on the host."""
    tether: socket.socket
    """Its hang-up is the container's death; ours makes the container leave."""


def open_door(folder: Path) -> socket.socket:
    """Where the first process is awaited: a socket in `folder`, which is mounted at ADDRESS."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        # Through the descriptor, since a socket's path may have 107 bytes only.
        door.bind(f"/proc/self/fd/{place}/{ADDRESS_NAME}")
    finally:
        os.close(place)
    (folder / ADDRESS_NAME).chmod(0o666)
    door.listen(1)
    return door


def let_in(door: socket.socket, folder: Path, seconds: float) -> Met | None:
    """The first process, once it has come; nobody else can come after it. None = it does not come."""
    door.settimeout(seconds)
    try:
        tether, _ = door.accept()
    except TimeoutError:
        return None
    finally:
        with contextlib.suppress(FileNotFoundError):
            (folder / ADDRESS_NAME).unlink()
    credentials = tether.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return Met(int(_CREDENTIALS.unpack(credentials)[0]), tether)


def send_order(met: Met, plan: SandboxPlan, openings: Sequence[Opening], program: bytes, handed: Handed) -> None:
    """Tell what is to be opened, set and started; an empty `program` is no filter. Raises SBX003 for too much."""
    text = write_order(plan, openings, program)
    order = os.memfd_create("order", os.MFD_CLOEXEC)
    try:
        with open(order, "wb", closefd=False) as file:
            file.write(text)
        os.lseek(order, 0, os.SEEK_SET)
        socket.send_fds(met.tether, [b"0"], [order, *handed])
    finally:
        os.close(order)


def write_order(plan: SandboxPlan, openings: Sequence[Opening], program: bytes) -> bytes:
    """The bytes of an order; raises SBX003 for one that the first process has no room for."""
    variables = [f"{name}={value}" for name, value in plan.environment.items()]
    words = b"".join(os.fsencode(word) + b"\0" for word in (plan.cwd, *plan.argv, *variables))
    counts = (len(program), len(openings), len(plan.argv), len(variables))
    text = _ORDER.pack(*counts) + program + b"".join(_describe(opening) for opening in openings) + words
    if len(text) >= _MOST_TEXT or sum(counts[2:]) > _MOST_WORDS or len(openings) > _MOST_SOCKETS:
        raise OvereagerError("SBX003", "the agent's arguments and environment are longer than a system takes")
    return text


def _describe(opening: Opening) -> bytes:
    address = socket.inet_aton(opening.address)
    return _OPENING.pack(_TYPES[opening.protocol], opening.port.to_bytes(2, "big"), address)


def receive_listeners(met: Met, openings: Sequence[Opening]) -> tuple[Listener, ...]:
    """The sockets that the first process has opened; raises SBX005 with the kernel's reason."""
    text, descriptors, _, _ = socket.recv_fds(met.tether, _ERROR.size, _MOST_SOCKETS)
    number = _ERROR.unpack(text)[0] if len(text) == _ERROR.size else errno.ECONNRESET
    if number or len(descriptors) != len(openings):
        raise OvereagerError(
            "SBX005",
            f"no listener could be opened inside the sandbox: {os.strerror(number)}",
            cure="two services of the scenario may claim one port; `overeager doctor` tries the mechanism itself",
        )
    return tuple(
        Listener(opening.port, socket.socket(fileno=fd), opening.protocol)
        for opening, fd in zip(openings, descriptors, strict=True)
    )


def fetch_listener(met: Met, status: int) -> tuple[int, int]:
    """A copy of the seccomp listener that the first process says it has, or -1 and the errno that hindered it."""
    text = os.read(status, _ERROR.size)
    number = _ERROR.unpack(text)[0] if len(text) == _ERROR.size else -errno.ECONNRESET
    return (copy_descriptor(met.pid, number), 0) if number >= 0 else (-1, -number)


def copy_descriptor(pid: int, number: int) -> int:
    """Our copy of descriptor `number` of process `pid`; raises OSError where we may not look at that process."""
    process = os.pidfd_open(pid)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        copy = int(libc.syscall(_NR_PIDFD_GETFD, process, number, 0))
        if copy < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return copy
    finally:
        os.close(process)


def read_status(status: int) -> int | None:
    """The agent's exit status, everything being dead; None = the container ended before the agent did."""
    text = os.read(status, _ERROR.size)
    return int(_ERROR.unpack(text)[0]) if len(text) == _ERROR.size else None
