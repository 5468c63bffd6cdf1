"""The auditor: a process of its own, parent of the sandbox, that takes both channels in one total order.

It is forked from the trial's process before that starts any thread, dies with it, and takes the sandbox with it when
it dies: a sandbox that nobody watches does not live.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import gc
import json
import os
import select
import signal
import socket
import threading
import traceback
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
    report: int
    """Read end of the pipe on which it says one JSON line at the end."""


class AuditReport(NamedTuple):
    """What an auditor says when all is dead."""

    exit_status: int | None
    """Of the sandbox's outer process: 0-255; None = a signal ended it."""
    kernel: RecorderHealth
    shim: RecorderHealth
    failure: str
    """Not empty = the auditor itself broke; then nothing else is to be believed."""


def fork_auditor(assignment: Assignment) -> Auditor:
    """Start the auditor and, under it, the command, which waits for nobody.

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
    reader, writer = os.pipe()
    trial = os.getpid()
    pid = os.fork()
    if pid == 0:
        _run(assignment, writer, trial)
    os.close(writer)
    return Auditor(pid, reader)


def read_report(auditor: Auditor) -> AuditReport | None:
    """Block until the auditor has ended; its report, or None when it was lost. Closes and reaps."""
    with open(auditor.report, "rb") as pipe:
        text = pipe.read()
    with contextlib.suppress(ChildProcessError):
        os.waitpid(auditor.pid, 0)
    if not text.endswith(b"\n"):
        return None
    fields = json.loads(text)
    return AuditReport(
        fields["exit_status"], RecorderHealth(*fields["kernel"]), RecorderHealth(*fields["shim"]), fields["failure"]
    )


def _run(assignment: Assignment, report: int, trial: int) -> NoReturn:
    """The auditor's whole life."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        die_with(trial, libc)
        _settle(libc)
        answer = _audit(assignment, report, libc)
    except BaseException:  # noqa: BLE001  # a forked child must not run on into its parent's code
        lost = RecorderHealth("truncated", "the auditor broke")
        answer = AuditReport(None, lost, lost, traceback.format_exc())
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(answer._asdict()).encode() + b"\n")
    os._exit(1 if answer.failure else 0)


def _settle(libc: ctypes.CDLL) -> None:
    """A session of our own (Ctrl-C is for the trial's process), heir of orphans, and no collector of garbage: the
    loop makes no cycles, and a collection would copy the parent's pages."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    gc.disable()


def _audit(assignment: Assignment, report: int, libc: ctypes.CDLL) -> AuditReport:
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
        launch(assignment.command, seccomp.build_own_filter(table) if table else None, theirs, auditor)
    _close_all_but({report, ours.fileno(), *([shims.fileno()] if shims else []), *journal.descriptors()}, libc)
    listener, refusal = _receive_listener(ours)
    kernel = KernelChannel(table, targets, journal, child) if table and listener >= 0 else None
    if kernel is not None:
        seccomp.wake_in_step(listener)
    _watch(listener if kernel else os.pidfd_open(child), kernel, shims, journal)
    status = _reap(child)
    if shims is not None:
        shims.drain()
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


def _close_all_but(keep: set[int], libc: ctypes.CDLL) -> None:
    """Leave the trial's descriptors to the trial: a pipe that we hold open never says end of file."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    low = 3
    for number in [*sorted(keep), 0xFFFFFFFF + 1]:
        if number > low:
            libc.syscall(_NR_CLOSE_RANGE, ctypes.c_uint(low), ctypes.c_uint(number - 1), 0)
        low = max(low, number + 1)


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
