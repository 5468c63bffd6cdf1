"""Listeners that stand inside the sandbox's network and are held by the host: the only way out."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
from typing import NoReturn

from overeager.contract.effects import Listener
from overeager.errors import OvereagerError

_NS_GET_USERNS = 0xB701
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_IP_FREEBIND = 15
_BACKLOG = 128


def open_listeners(pid: int, ports: tuple[int, ...]) -> tuple[Listener, ...]:
    """Listeners on 127.0.0.1 in the network namespace of `pid`, opened by a forked helper so that we stay where we are.

    Ports below 1024 are allowed. Raises SBX005 with the kernel's reason.
    """
    if not ports:
        return ()
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        _open_inside(pid, ports, theirs)
    theirs.close()
    with ours:
        text, descriptors, _, _ = socket.recv_fds(ours, 4096, len(ports))
    os.waitpid(child, 0)
    if len(descriptors) != len(ports):
        raise OvereagerError(
            "SBX005",
            f"no listener could be opened inside the sandbox: {text.decode(errors='replace')}",
            cure="two services of the scenario may claim one port; `overeager doctor` tries the mechanism itself",
        )
    return tuple(Listener(port, socket.socket(fileno=fd)) for port, fd in zip(ports, descriptors, strict=True))


def _open_inside(pid: int, ports: tuple[int, ...], channel: socket.socket) -> NoReturn:
    try:
        _enter(pid)
        listeners = [_listen(port) for port in ports]
        socket.send_fds(channel, [b"0"], [listener.fileno() for listener in listeners])
    except BaseException as error:  # noqa: BLE001  # a forked child must not run on into its parent's code
        channel.send(f"{type(error).__name__}: {error}".encode()[:4000])
    finally:
        os._exit(0)


def _enter(pid: int) -> None:
    """Join the network namespace of `pid`; an ordinary user first becomes somebody in the user namespace that owns it
    (not that of /proc/PID/ns/user, which lies one deeper)."""
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    if os.geteuid() != 0:
        _set_namespace(fcntl.ioctl(network, _NS_GET_USERNS), _CLONE_NEWUSER, "user")
    _set_namespace(network, _CLONE_NEWNET, "network")


def _set_namespace(descriptor: int, kind: int, name: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, kind):
        number = ctypes.get_errno()
        raise OSError(number, f"the {name} namespace: {os.strerror(number)}")


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # The loopback interface may not be up yet.
    listener.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
    except OSError as error:
        raise OSError(error.errno or errno.EIO, f"port {port}: {error.strerror}") from error
    return listener
