"""The process that becomes the sandbox: it gives up what it must not have, sets the filter, and execs."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import resource
import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from overeager.audit.kernel import seccomp
from overeager.contract.effects import Command

FAILED = 126
"""Exit status of a launcher that did not get as far as its exec."""

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_NR_CLOSE_RANGE = 436
_NR_RT_SIGACTION = {"x86_64": 13, "aarch64": 134}
_NR_KEYCTL = {"x86_64": 250, "aarch64": 219}
_JOIN_SESSION_KEYRING = 1
"""Without a name: a new one. No namespace bounds the caller's keys, which would be the agent's to read."""
_MOST_SIGNALS, _SIGNAL_SET_SIZE = 64, 8
_SIGACTION_SIZE = 32
"""Of the kernel's struct, all zero for the default action."""
_CLOSE_ON_EXEC = 4
_NO_CORE = 1
"""Bytes that hold no core; unlike 0, it also keeps the kernel from starting the host's collector of cores."""
_MOST_PROCESSES = 4096
"""Of all trials of a user whom only trials use, or of one trial of any other."""


def die_with(parent: int, libc: ctypes.CDLL) -> None:
    """Let the kernel kill us when the thread that forked us ends; ends at once when `parent` has gone already."""
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(FAILED)


def launch(
    command: Command, given: Sequence[int], program: bytes | None, channel: socket.socket, parent: int
) -> NoReturn:
    """Become `command`; tells `channel` either the number of its listener, negative, or the errno that hindered it.

    `given` are our numbers of its stdin, stdout, stderr and `fds`.
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        channel = _place_descriptors(command, given, channel)
        _reset_signals(libc)
        _limit(command)
        os.umask(0o022)
        os.chdir("/")
        os.setsid()
        _drop(command)
        libc.syscall(_NR_KEYCTL.get(os.uname().machine, -1), _JOIN_SESSION_KEYRING, None)
        die_with(parent, libc)
        libc.syscall(_NR_CLOSE_RANGE, 3, ctypes.c_uint(0xFFFFFFFF), _CLOSE_ON_EXEC)
        for descriptor in command.fds:
            os.set_inheritable(descriptor, True)
        if not command.identity.drop:
            libc.prctl(_PR_SET_DUMPABLE, 1)  # a changed user may be inherited, and the auditor must reach us
        _announce(program, channel)
        os.execve(command.executable, list(command.argv), dict(command.environment))
    except BaseException as error:  # noqa: BLE001  # a forked child must not run on into its parent's code
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(FAILED)


def _place_descriptors(command: Command, given: Sequence[int], channel: socket.socket) -> socket.socket:
    """Each descriptor gets the number by which the command knows it; `channel` moves out of their way.

    The copies lie above all of these, so that none is overwritten too early.
    """
    wanted = (0, 1, 2, *command.fds)
    moved, *copies = (
        fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, max(wanted) + 1) for source in (channel.fileno(), *given)
    )
    for place, copy in zip(wanted, copies, strict=True):
        os.dup2(copy, place)
    return socket.socket(fileno=moved)


def _reset_signals(libc: ctypes.CDLL) -> None:
    """What Python ignores (SIGPIPE, SIGXFSZ), or who started us, would stay ignored in the agent, and so would what we
    block. By the system call, since the C library hides two signals of its own, which can be inherited ignored too."""
    by_default = ctypes.create_string_buffer(_SIGACTION_SIZE)
    for number in range(1, _MOST_SIGNALS + 1):
        libc.syscall(_NR_RT_SIGACTION.get(os.uname().machine, -1), number, by_default, None, _SIGNAL_SET_SIZE)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _limit(command: Command) -> None:
    """Bound what one process, or the dropped user's processes together, can take; out of memory, the kernel is to end
    something inside and not us."""
    with contextlib.suppress(OSError):  # a process that has just changed its user may not
        Path("/proc/self/oom_score_adj").write_text("500")
    limits = [(resource.RLIMIT_FSIZE, command.limits.file_bytes), (resource.RLIMIT_CORE, _NO_CORE)]
    if command.identity.drop or _counts_by_namespace(os.uname().release):
        limits.append((resource.RLIMIT_NPROC, _MOST_PROCESSES))
    for kind, wanted in limits:
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))


def _counts_by_namespace(release: str) -> bool:
    """Whether the kernel counts the processes of a user namespace by themselves (Linux 5.14), so that those that the
    caller runs outside take nothing from them."""
    version = re.match(r"(\d+)\.(\d+)", release)
    return version is not None and (int(version[1]), int(version[2])) >= (5, 14)


def _drop(command: Command) -> None:
    if command.identity.drop:
        os.setgroups([])
        os.setresgid(command.identity.gid, command.identity.gid, command.identity.gid)
        os.setresuid(command.identity.uid, command.identity.uid, command.identity.uid)


def _announce(program: bytes | None, channel: socket.socket) -> None:
    seccomp.forbid_new_privileges()
    if program is None:
        channel.send(b"0")
        return
    try:
        listener = seccomp.install(program)
    except OSError as error:
        channel.send(str(error.errno).encode())
        return
    # From here on our own calls wait for the auditor, sendmsg among them, so it takes the listener out of our hands.
    channel.send(str(-listener).encode())
    channel.recv(1)
    os.close(listener)
