"""The auditor: a process of its own, parent of the sandbox, that takes both channels in one total order.

It is forked from the trial's process before that starts any thread, dies with it, and takes the sandbox with it when
it dies: a sandbox that nobody watches does not live. One auditor can watch one sandbox after another: a fork copies
every page that either side touches afterwards, which costs more than most trials of a script.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import gc
import json
import os
import pickle
import select
import signal
import socket
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from overeager.audit import seccomp
from overeager.audit.journal import Journal
from overeager.audit.kernel import KernelChannel, mark_dead
from overeager.audit.launcher import die_with, launch
from overeager.audit.shims import ShimChannel
from overeager.audit.syscalls import calls
from overeager.audit.target import Targets
from overeager.contract.effects import Command, RecorderHealth
from overeager.errors import OvereagerError

_PR_SET_CHILD_SUBREAPER = 36
_NR_CLOSE_RANGE = 436
_IDLE_MILLISECONDS = 100
"""After that long without an event what is buffered goes to the files."""

_MOST_REPORT = 1 << 16
_MOST_FAILURE = 1 << 12
"""Characters of a traceback; in JSON each may become six."""
_MOST_DESCRIPTORS = 32

_BLANK = bytes(seccomp.NOTIFICATION.size)

SWITCHED_OFF = RecorderHealth("absent", "switched off")


class Assignment(NamedTuple):
    """What an auditor is to do."""

    command: Command
    began: float
    """Start of the trial on CLOCK_MONOTONIC."""
    kernel: Path | None
    """Where `kernel.jsonl` goes; None = no kernel channel."""
    shim: Path | None
    """Where `shim.jsonl` goes; None = no shim channel."""
    meeting: Path
    """Where the shims find the auditor, on the host."""
    shim_form: str = "cc"
    """The form of the shim binary: `sh` writes to a FIFO, the others send datagrams."""


class Auditor(NamedTuple):
    """A running auditor, as the trial's process sees it."""

    pid: int
    channel: socket.socket
    """It takes an assignment, with its descriptors, and gives a report when all is dead; then the next."""


class AuditReport(NamedTuple):
    """What an auditor says when all is dead."""

    exit_status: int | None
    """Of the sandbox's outer process: 0-255; None = a signal ended it."""
    kernel: RecorderHealth
    shim: RecorderHealth
    failure: str
    """Not empty = the auditor itself broke; then nothing else is to be believed."""


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


def assign(auditor: Auditor, assignment: Assignment) -> None:
    """Let the auditor start the command, which waits for nobody; the command's descriptors may be closed afterwards.

    That the auditor is lost is `read_report`'s to tell.
    """
    command = assignment.command
    # In a file, since a prompt in the command line may be longer than a message can be.
    with open(os.memfd_create("work"), "w+b") as text:
        pickle.dump(assignment, text)
        text.seek(0)
        descriptors = [text.fileno(), command.stdin, command.stdout, command.stderr, *command.fds]
        with contextlib.suppress(OSError):
            socket.send_fds(auditor.channel, [b"0"], descriptors)


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
        fields["exit_status"], RecorderHealth(*fields["kernel"]), RecorderHealth(*fields["shim"]), fields["failure"]
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
        return _audit(assignment, descriptors[1:], libc)
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


def _audit(assignment: Assignment, descriptors: Sequence[int], libc: ctypes.CDLL) -> AuditReport:
    table = calls() if assignment.kernel else None
    journal = Journal(assignment.began, assignment.kernel if table else None, assignment.shim)
    targets = Targets(libc)
    shims = None
    if assignment.shim:
        shims = ShimChannel(journal, assignment.meeting, assignment.shim_form, targets.find_inner)
    ours, theirs = socket.socketpair()
    auditor = os.getpid()
    child = os.fork()
    if child == 0:
        program = seccomp.build_own_filter(table) if table else None
        launch(assignment.command, descriptors, program, theirs, auditor)
    for descriptor in (*descriptors, theirs.detach()):
        os.close(descriptor)  # a pipe that we hold open never says end of file
    listener, refusal = _receive_listener(ours)
    kernel = KernelChannel(table, targets, journal, child) if table and listener >= 0 else None
    if kernel is not None:
        seccomp.wake_in_step(listener)
    watched = listener if kernel else os.pidfd_open(child)
    _watch(watched, kernel, shims, journal)
    status = _reap(child)
    if shims is not None:
        shims.drain()
        shims.close()
    targets.close()
    os.close(watched)
    return AuditReport(
        status if status is not None and status >= 0 else None,
        _kernel_health(assignment, journal, kernel, refusal),
        journal.shim.end() if journal.shim else SWITCHED_OFF,
        "",
    )


def _kernel_health(
    assignment: Assignment, journal: Journal, channel: KernelChannel | None, refusal: int
) -> RecorderHealth:
    if assignment.kernel is None:
        return SWITCHED_OFF
    if journal.kernel is None:
        return RecorderHealth("absent", f"no table of system calls for this machine ({os.uname().machine})")
    health = journal.kernel.end()
    if channel is None:
        assignment.kernel.unlink(missing_ok=True)
        return RecorderHealth("absent", seccomp.explain(refusal))
    if channel.refused:
        reason = f"the system did not let us look at {channel.refused} calls (kernel.yama.ptrace_scope above 1?)"
        return RecorderHealth("truncated", health.reason or reason)
    return health


def _receive_listener(ours: socket.socket) -> tuple[int, int]:
    """The listener (or -1) and the errno that hindered it."""
    text, descriptors, _, _ = socket.recv_fds(ours, 16, 1)
    ours.close()
    if descriptors:
        return descriptors[0], 0
    return -1, int(text or errno.EIO)


def _close_all_but(kept: int, libc: ctypes.CDLL) -> None:
    """Leave the trial's descriptors to the trial: a pipe that we hold open never says end of file."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    libc.syscall(_NR_CLOSE_RANGE, 3, ctypes.c_uint(kept - 1), 0)
    libc.syscall(_NR_CLOSE_RANGE, ctypes.c_uint(kept + 1), ctypes.c_uint(0xFFFFFFFF), 0)


def _watch(watched: int, kernel: KernelChannel | None, shims: ShimChannel | None, journal: Journal) -> None:
    """Take both channels until `watched` says the end: the listener hangs up when the last process that the filter
    binds is gone, a pidfd is readable when the outer process has ended."""
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    shim_fd = -1
    if shims is not None:
        shim_fd = shims.fileno()
        poll.register(shim_fd, select.POLLIN)
    wait: int | None = None
    notice = bytearray(seccomp.NOTIFICATION.size)
    while True:
        events = poll.poll(wait)
        if not events:
            journal.flush()
            wait = None
            continue
        wait = _IDLE_MILLISECONDS
        ready = dict(events)
        # A shim sends first and execs afterwards: its record is taken first when both are there.
        if shims is not None and shim_fd in ready:
            shims.drain()
        state = ready.get(watched, 0)
        if not state:
            continue
        if kernel is None or not state & select.POLLIN:
            return
        _answer(watched, kernel, notice)


def _answer(listener: int, kernel: KernelChannel, notice: bytearray) -> None:
    """Take one notification, look at it while its process waits, let it go on, and only then write."""
    notice[:] = _BLANK  # the kernel refuses a buffer that is not zero
    try:
        fcntl.ioctl(listener, seccomp.RECEIVE, notice, True)
    except OSError as error:
        if error.errno in (errno.EINTR, errno.ENOENT):
            return
        raise
    number, thread, _, call, _, _, *arguments = seccomp.NOTIFICATION.unpack(notice)
    record = kernel.look(thread, call, arguments)
    try:
        fcntl.ioctl(listener, seccomp.SEND, seccomp.ANSWER.pack(number, 0, 0, seccomp.CONTINUE))
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise
        record = mark_dead(record) if record is not None else None
    if record is not None:
        kernel.write(record)


def _reap(child: int) -> int | None:
    """Wait until no process of the sandbox is left; the exit status of `child`.

    We inherit the first process inside when the outer one is killed; the kernel lets it be reaped only when its whole
    pid namespace is gone.
    """
    status = None
    while True:
        try:
            pid, code = os.waitpid(-1, 0)
        except ChildProcessError:
            return status
        if pid == child:
            status = os.waitstatus_to_exitcode(code)
