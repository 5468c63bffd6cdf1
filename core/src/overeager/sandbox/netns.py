"""Listeners that stand inside the sandbox's network and are held by the host: the only way out."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
import time
from collections.abc import Sequence
from typing import NoReturn

from overeager.contract.effects import Listener, Opening
from overeager.errors import OvereagerError

_NS_GET_USERNS = 0xB701
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_IP_FREEBIND = 15
_SIOCGIFFLAGS, _SIOCGIFADDR, _IFF_UP = 0x8913, 0x8915, 1
_MOST_LOOKS, _BETWEEN_LOOKS = 10_000, 0.0005
"""How often, and how many seconds apart, the loopback interface is looked at: it comes up within milliseconds."""
_BACKLOG = 128


def open_listeners(pid: int, openings: Sequence[Opening]) -> tuple[Listener, ...]:
    """Sockets in the network namespace of `pid`; we stay where we are.

    For a process without other threads. Ports below 1024 are allowed. Raises SBX005 with the kernel's reason.
    """
    if not openings:
        return ()
    try:
        sockets = _visit(pid, openings) if os.geteuid() == 0 else _send_helper(pid, openings)
    except OSError as error:
        raise OvereagerError(
            "SBX005",
            f"no listener could be opened inside the sandbox: {type(error).__name__}: {error}",
            cure="two services of the scenario may claim one port; `overeager doctor` tries the mechanism itself",
        ) from error
    return tuple(
        Listener(opening.port, made, opening.protocol) for opening, made in zip(openings, sockets, strict=True)
    )


def _visit(pid: int, openings: Sequence[Opening]) -> list[socket.socket]:
    """As root: go there and come back, which costs a fiftieth of a fork."""
    own = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    made: list[socket.socket] = []
    try:
        _enter(pid)
        try:
            for opening in openings:
                made.append(_open(opening))
        finally:
            _set_namespace(own, _CLONE_NEWNET, "own network")
    except BaseException:
        for one in made:
            one.close()
        raise
    finally:
        os.close(own)
    return made


def _send_helper(pid: int, openings: Sequence[Opening]) -> list[socket.socket]:
    """As an ordinary user: whoever joins another user namespace cannot come back, so a forked helper goes."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        _open_inside(pid, openings, theirs)
    theirs.close()
    with ours:
        text, descriptors, _, _ = socket.recv_fds(ours, 4096, len(openings))
    os.waitpid(child, 0)
    if len(descriptors) != len(openings):
        raise OSError(text.decode(errors="replace"))
    return [socket.socket(fileno=descriptor) for descriptor in descriptors]


def _open_inside(pid: int, openings: Sequence[Opening], channel: socket.socket) -> NoReturn:
    try:
        _enter(pid)
        sockets = [_open(opening) for opening in openings]
        socket.send_fds(channel, [b"0"], [one.fileno() for one in sockets])
    except BaseException as error:  # noqa: BLE001  # a forked child must not run on into its parent's code
        channel.send(f"{type(error).__name__}: {error}".encode()[:4000])
    finally:
        os._exit(0)


def _enter(pid: int) -> None:
    """Join the network namespace of `pid`; an ordinary user first becomes somebody in the user namespace that owns it
    (not that of /proc/PID/ns/user, which lies one deeper)."""
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if os.geteuid() != 0:
            _set_namespace(fcntl.ioctl(network, _NS_GET_USERNS), _CLONE_NEWUSER, "user")
        _set_namespace(network, _CLONE_NEWNET, "network")
    finally:
        os.close(network)


def _set_namespace(descriptor: int, kind: int, name: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, kind):
        number = ctypes.get_errno()
        raise OSError(number, f"the {name} namespace: {os.strerror(number)}")


def _await_loopback(made: socket.socket) -> None:
    """Before an address stands in the namespace, a datagram socket may be bound but forgets what it answers from."""
    for _ in range(_MOST_LOOKS):
        answer = fcntl.ioctl(made, _SIOCGIFFLAGS, struct.pack("16s16x", b"lo"))
        if struct.unpack_from("h", answer, 16)[0] & _IFF_UP and _has_address(made):
            return
        time.sleep(_BETWEEN_LOOKS)
    raise OSError(errno.ENETDOWN, "the loopback interface does not come up")


def _has_address(made: socket.socket) -> bool:
    try:
        fcntl.ioctl(made, _SIOCGIFADDR, struct.pack("16s16x", b"lo"))
    except OSError:
        return False
    return True


def _open(opening: Opening) -> socket.socket:
    streams = opening.protocol == "tcp"
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM if streams else socket.SOCK_DGRAM)
    if streams:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # The loopback interface may not be up yet.
        made.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
    try:
        if not streams:
            _await_loopback(made)
        made.bind((opening.address, opening.port))
        if streams:
            made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise OSError(error.errno or errno.EIO, f"port {opening.port}: {error.strerror}") from error
    return made
