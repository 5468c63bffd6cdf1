"""One trial as its auditor lives it: both channels in one total order, from the first call to the last hang-up."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import select
from collections.abc import Callable, Sequence

from overeager.audit.auditor.assignment import SWITCHED_OFF, Assignment, AuditReport
from overeager.audit.journal import Journal
from overeager.audit.kernel import seccomp
from overeager.audit.kernel.channel import KernelChannel
from overeager.audit.kernel.origin import Origin, await_container, reap, start_command
from overeager.audit.kernel.pump.library import CALL, ENDED, IDLE, SHIMS, PumpLibrary
from overeager.audit.kernel.syscalls import calls, explain_absence
from overeager.audit.kernel.target import Targets
from overeager.audit.shim.channel import ShimChannel
from overeager.contract.effects import RecorderHealth

_IDLE_MILLISECONDS = 100
"""After that long without an event what is buffered goes to the files."""

_BLANK = bytes(seccomp.NOTIFICATION.size)


def audit(assignment: Assignment, descriptors: Sequence[int], libc: ctypes.CDLL) -> AuditReport:
    """Start what is to be watched, record it until all is dead, and tell how whole the records are."""
    table = calls() if assignment.kernel else None
    journal = Journal(assignment.began, assignment.kernel if table else None, assignment.shim)
    targets = Targets(libc)
    shims = None
    if assignment.shim:
        shims = ShimChannel(journal, assignment.meeting, assignment.shim_form, targets.find_inner)
    library = _load(assignment) if table else None
    origin = _begin(assignment, descriptors, seccomp.build_own_filter(table) if table else None)
    kernel = KernelChannel(table, targets, journal, origin) if table and origin.listener >= 0 else None
    watch(origin, kernel, shims, journal, library)
    status = reap(origin.outer)
    if shims is not None:
        shims.drain()
        shims.close()
    targets.close()
    origin.close()
    return AuditReport(
        status if status is not None and status >= 0 else None,
        _kernel_health(assignment, journal, kernel, origin.refusal),
        journal.shim.end() if journal.shim else SWITCHED_OFF,
        "",
        library is not None and kernel is not None,
    )


def _begin(assignment: Assignment, descriptors: Sequence[int], program: bytes | None) -> Origin:
    if assignment.command is not None:
        return start_command(assignment.command, descriptors, program)
    return await_container(descriptors[0])


def _load(assignment: Assignment) -> PumpLibrary | None:
    """The compiled loop, where there is one that loads; the sh form of the shims needs to be told who lives."""
    if assignment.pump is None or assignment.shim_form == "sh":
        return None
    try:
        return PumpLibrary(assignment.pump)
    except OSError:
        return None


def _kernel_health(
    assignment: Assignment, journal: Journal, channel: KernelChannel | None, refusal: int
) -> RecorderHealth:
    if assignment.kernel is None:
        return SWITCHED_OFF
    if journal.kernel is None:
        return RecorderHealth("absent", explain_absence())
    health = journal.kernel.end()
    if channel is None:
        assignment.kernel.unlink(missing_ok=True)
        return RecorderHealth("absent", seccomp.explain(refusal))
    if channel.missed:
        reason = f"{channel.missed} calls could not be looked into (kernel.yama.ptrace_scope above 1?)"
        return RecorderHealth("truncated", health.reason or reason)
    return health


def watch(
    origin: Origin,
    kernel: KernelChannel | None,
    shims: ShimChannel | None,
    journal: Journal,
    library: PumpLibrary | None = None,
) -> None:
    """Take both channels until what is watched says the end: the listener hangs up when the last process that the
    filter binds is gone, a pidfd is readable when its process has ended."""
    if kernel is None or library is None:
        _watch_until(origin, kernel, shims, journal, lambda: False)
    else:
        _watch_compiled(origin, kernel, shims, journal, library)


def _watch_compiled(
    origin: Origin, kernel: KernelChannel, shims: ShimChannel | None, journal: Journal, library: PumpLibrary
) -> None:
    """The compiled loop takes what it can, we take the rest."""
    pump = kernel.use(library, origin, -1 if shims is None else shims.fileno())
    try:
        while True:
            why = pump.run()
            if why == ENDED:
                return
            if why == SHIMS and shims is not None:
                shims.drain()
            elif why == IDLE:
                journal.flush()
            elif why == CALL:
                kernel.take_over(pump)
                _respond(origin.listener, kernel, pump.notice)
                if not kernel.settled and _watch_until(origin, kernel, shims, journal, lambda: kernel.settled):
                    return
                kernel.hand_back(pump)
    finally:
        pump.close()


def _watch_until(
    origin: Origin,
    kernel: KernelChannel | None,
    shims: ShimChannel | None,
    journal: Journal,
    enough: Callable[[], bool],
) -> bool:
    """Watch until `enough` holds, or the end, which is True."""
    watched = origin.watched
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    shim_fd = -1
    if shims is not None:
        shim_fd = shims.fileno()
        poll.register(shim_fd, select.POLLIN)
    wait: int | None = None
    notice = bytearray(seccomp.NOTIFICATION.size)
    while not enough():
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
            return True
        _answer(watched, kernel, notice)
    return False


def _answer(listener: int, kernel: KernelChannel, notice: bytearray) -> None:
    """Take one notification and respond to it."""
    notice[:] = _BLANK  # the kernel refuses a buffer that is not zero
    try:
        fcntl.ioctl(listener, seccomp.RECEIVE, notice, True)
    except OSError as error:
        if error.errno in (errno.EINTR, errno.ENOENT):
            return
        raise
    _respond(listener, kernel, notice)


def _respond(listener: int, kernel: KernelChannel, notice: bytes | bytearray) -> None:
    """Look at a call while its process waits, let it go on, and only then write."""
    number, thread, _, call, _, _, *arguments = seccomp.NOTIFICATION.unpack(notice)
    sight = kernel.look(thread, call, arguments)
    answer = seccomp.NO_SUCH_CALL if kernel.kind(call) == "refused" else seccomp.GO_ON
    alive = True
    try:
        fcntl.ioctl(listener, seccomp.SEND, seccomp.ANSWER.pack(number, *answer))
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise
        alive = False
    if sight is not None:
        kernel.keep(sight, alive)
