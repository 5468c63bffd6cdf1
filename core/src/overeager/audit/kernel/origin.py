"""How a sandbox comes to be watched: who starts it, how its listener arrives, and what proves that it has ended."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import struct
from collections.abc import Sequence
from typing import NamedTuple

from overeager.audit.kernel import seccomp
from overeager.audit.kernel.launcher import launch
from overeager.contract.effects import Command

_NR_PIDFD_GETFD = 438
_CONTAINER = struct.Struct("=iI")


class Origin(NamedTuple):
    """A sandbox that has been started, as the auditor sees it."""

    watched: int
    """The listener or, without one, a pidfd: readable or hung up when all is dead. Closed by the auditor's end."""
    listener: int
    """-1 = the kernel gave none;"""
    refusal: int
    """then the errno that says why."""
    outer: int
    """The process outside all namespaces whose own calls are nobody's doing (bubblewrap's outer one); 0 = none."""
    init: int
    """The first process inside, when it is known beforehand; 0 = it is the first to exec beside the outer one."""
    tether: int = -1
    """Held, and given up at the end: by its hang-up a container knows that nobody watches it any more."""

    def close(self) -> None:
        """Give up what is held."""
        for descriptor in {self.watched, self.tether} - {-1}:
            os.close(descriptor)


def start_command(command: Command, descriptors: Sequence[int], program: bytes | None) -> Origin:
    """Start `command` as our own child, under `program` when there is one; closes our copies of its descriptors."""
    ours, theirs = socket.socketpair()
    auditor = os.getpid()
    child = os.fork()
    if child == 0:
        launch(command, descriptors, program, theirs, auditor)
    for descriptor in (*descriptors, theirs.detach()):
        os.close(descriptor)  # a pipe that we hold open never says end of file
    listener, refusal = take_listener(ours, child)
    watched = listener if listener >= 0 else os.pidfd_open(child)
    return Origin(watched, listener, refusal, outer=child, init=0)


def announce(announcement: socket.socket, pid: int, tether: int, listener: int, refusal: int) -> None:
    """Tell an auditor that waits in `await_container` of a container whose first process is `pid`.

    The auditor holds what it is given; the caller closes its own copies, or the container outlives the auditor.
    """
    held = [tether] if listener < 0 else [tether, listener]
    socket.send_fds(announcement, [_CONTAINER.pack(pid, refusal)], held)


def await_container(announcement: int) -> Origin:
    """A container that the trial's process starts; raises EOFError when it gives up."""
    with socket.socket(fileno=announcement) as channel:
        channel.send(b"0")  # what the container is to find of us stands
        text, descriptors, _, _ = socket.recv_fds(channel, _CONTAINER.size, 2)
    if len(text) != _CONTAINER.size:
        raise EOFError("no container was started")
    pid, refusal = _CONTAINER.unpack(text)
    tether, listener = (*descriptors, -1)[:2]
    if listener >= 0:
        seccomp.wake_in_step(listener)
    watched = listener if listener >= 0 else tether
    return Origin(watched, listener, refusal, outer=0, init=pid, tether=tether)


def take_listener(channel: socket.socket, launcher: int) -> tuple[int, int]:
    """The listener (or -1) and the errno that hindered it, as a launcher tells them; closes the socket."""
    with channel:
        number = int(channel.recv(16) or errno.EIO)
        if number >= 0:
            return -1, number
        try:
            listener = _copy_descriptor(launcher, -number)
        except OSError as error:
            os.kill(launcher, signal.SIGKILL)  # under a filter that nobody answers it would wait for ever
            return -1, error.errno or errno.EIO
        seccomp.wake_in_step(listener)
        channel.send(b"0")
        return listener, 0


def _copy_descriptor(pid: int, number: int) -> int:
    process = os.pidfd_open(pid)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        copy = int(libc.syscall(_NR_PIDFD_GETFD, process, number, 0))
    finally:
        os.close(process)
    if copy < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return copy


def reap(outer: int) -> int | None:
    """Wait until no process of the sandbox is left among our children; the exit status of `outer`.

    We inherit the first process inside when the outer one is killed; the kernel lets it be reaped only when its whole
    pid namespace is gone.
    """
    status = None
    while True:
        try:
            pid, code = os.waitpid(-1, 0)
        except ChildProcessError:
            return status
        if pid == outer:
            status = os.waitstatus_to_exitcode(code)
