"""The auditor: a process of its own, parent of the sandbox, that takes both channels in one total order.

It is forked from the trial's process before that starts any thread, dies with it, and takes the sandbox with it when
it dies: a sandbox that nobody watches does not live. One auditor can watch one sandbox after another: a fork copies
every page that either side touches afterwards, which costs more than most trials of a script.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import pickle
import signal
import socket
import threading
import traceback
from typing import NamedTuple, NoReturn

from overeager.audit.auditor.assignment import Assignment, AuditReport
from overeager.audit.auditor.loop import audit
from overeager.audit.kernel.launcher import die_with
from overeager.contract.effects import RecorderHealth
from overeager.errors import OvereagerError

_PR_SET_CHILD_SUBREAPER = 36
_NR_CLOSE_RANGE = 436
_MOST_REPORT = 1 << 16
_MOST_FAILURE = 1 << 12
"""Characters of a traceback; in JSON each may become six."""
_MOST_DESCRIPTORS = 32


class Auditor(NamedTuple):
    """A running auditor, as the trial's process sees it."""

    pid: int
    channel: socket.socket
    """It takes an assignment, with its descriptors, and gives a report when all is dead; then the next."""


def fork_auditor() -> Auditor:
    """Start an auditor; it waits for its first assignment.

    Call it from the main thread of a process without other threads: a fork copies only the calling thread, and the
    auditor is killed when that thread ends. Raises AUD001 where there are others.
    """
    if threading.active_count() > 1:
        names = ", ".join(thread.name for thread in threading.enumerate())
        raise OvereagerError(
            "AUD001",
            f"a trial was started in a process that has threads ({names})",
            cure="start each trial in a process of its own, before anything that starts threads",
        )
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    trial = os.getpid()
    pid = os.fork()
    if pid == 0:
        _serve(theirs, trial)
    theirs.close()
    return Auditor(pid, ours)


def assign(auditor: Auditor, assignment: Assignment, announcement: int = -1) -> None:
    """Let the auditor start the command, which waits for nobody; its descriptors may be closed afterwards.

    Without a command, `announcement` is the socket over which `origin.announce` will tell of a container.

    That the auditor is lost is `read_report`'s to tell.
    """
    # In a file, since a prompt in the command line may be longer than a message can be.
    with open(os.memfd_create("work"), "w+b") as text:
        pickle.dump(assignment, text)
        text.seek(0)
        command = assignment.command
        own = [announcement] if command is None else [command.stdin, command.stdout, command.stderr, *command.fds]
        with contextlib.suppress(OSError):
            socket.send_fds(auditor.channel, [b"0"], [text.fileno(), *own])


def read_report(auditor: Auditor) -> AuditReport | None:
    """Block until all is dead; the auditor's report, or None when it was lost."""
    try:
        text = auditor.channel.recv(_MOST_REPORT)
    except OSError:
        text = b""
    if not text:
        return None
    fields = json.loads(text)
    return AuditReport(
        fields["exit_status"],
        RecorderHealth(*fields["kernel"]),
        RecorderHealth(*fields["shim"]),
        fields["failure"],
        fields["compiled"],
    )


def dismiss(auditor: Auditor) -> None:
    """Let an auditor that has reported, or is lost, leave; and reap it."""
    auditor.channel.close()
    with contextlib.suppress(ChildProcessError):
        os.waitpid(auditor.pid, 0)


def is_lost(auditor: Auditor) -> bool:
    """Whether an auditor that nobody has dismissed has ended."""
    try:
        return os.waitid(os.P_PID, auditor.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _serve(channel: socket.socket, trial: int) -> NoReturn:
    """The auditor's whole life."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        die_with(trial, libc)
        _settle(libc)
        _close_all_but(channel.fileno(), libc)
        while (answer := _take(channel, libc)) is not None:
            channel.send(json.dumps(answer._asdict()).encode()[:_MOST_REPORT])
            if answer.failure:
                break
    finally:  # a forked child must not run on into its parent's code
        os._exit(0)


def _take(channel: socket.socket, libc: ctypes.CDLL) -> AuditReport | None:
    """Do the next assignment; None = there is none to come."""
    message, descriptors, _, _ = socket.recv_fds(channel, 16, _MOST_DESCRIPTORS)
    if not message:
        return None
    try:
        with open(descriptors[0], "rb") as text:
            assignment: Assignment = pickle.load(text)  # our own parent's
        return audit(assignment, descriptors[1:], libc)
    except BaseException:  # noqa: BLE001  # whatever it was, the trial is to be told
        lost = RecorderHealth("truncated", "the auditor broke")
        return AuditReport(None, lost, lost, traceback.format_exc()[-_MOST_FAILURE:])


def _settle(libc: ctypes.CDLL) -> None:
    """A session of our own (Ctrl-C is for the trial's process), heir of orphans, and no collector of garbage: the
    loop makes no cycles, and a collection would copy the parent's pages."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    gc.disable()


def _close_all_but(kept: int, libc: ctypes.CDLL) -> None:
    """Leave the trial's descriptors to the trial: a pipe that we hold open never says end of file."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    libc.syscall(_NR_CLOSE_RANGE, 3, ctypes.c_uint(kept - 1), 0)
    libc.syscall(_NR_CLOSE_RANGE, ctypes.c_uint(kept + 1), ctypes.c_uint(0xFFFFFFFF), 0)
