"""Processes for trials, a few workers that fork them, and nothing left behind whoever dies."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import selectors
import signal
import socket
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PACKET = 1 << 16


class Job(NamedTuple):
    """One attempt of one trial."""

    trial: int
    """Index in the plan."""
    attempt: int
    budget: float | None = None
    """What is left of the run's budget, in US dollars."""


class Outcome(NamedTuple):
    """What became of a job."""

    trial: int
    attempt: int
    ending: str
    """A word of model.ending; `interrupted` when its process was lost and nothing was sealed."""
    detail: str = ""
    bundle: str = ""
    """File name of the sealed bundle; empty when none was sealed."""
    cost: float = 0.0
    error: str = ""
    """A coded error that concerns the whole run (disk full); the run stops."""
    threaded: bool = False
    """Whether its process has had threads: then it can fork no auditor for another trial."""


class Work(NamedTuple):
    """What a pool does."""

    execute: Callable[[Job], Outcome]
    """Does a job, in a process that a worker has forked for it."""
    admit: Callable[[Job], Job | None] = lambda job: job
    """Called in the pool's own process when the job is to be handed out; None = it is not done at all."""
    expect: Callable[[Job], None] = lambda _: None
    """Called in the worker before that fork: what it makes ready lies in memory that is shared."""
    lasts: Callable[[Outcome], bool] = lambda _: False
    """Whether the process may do the next job too; never one that has had threads, since it could not fork safely, and
    none in which anything went wrong."""


class _Process(NamedTuple):
    """A forked process and our end of the channel to it."""

    pid: int
    channel: socket.socket


class Pool:
    """Workers that are forked before the caller starts any thread; a lost one is replaced."""

    def __init__(self, work: Work, size: int) -> None:
        self._strangers = frozenset(_children())
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        gc.collect()
        gc.freeze()  # what is shared with the children stays shared
        self._work = work
        self._workers: dict[int, _Process] = {}
        self._busy: dict[int, Job] = {}
        self._selector = selectors.DefaultSelector()
        for _ in range(size):
            self._hire()

    def run(self, jobs: Sequence[Job], follow: Callable[[Outcome], Job | None]) -> Iterator[Outcome]:
        """Outcomes as they come; `follow` may give another attempt of the same trial."""
        waiting = deque(jobs)
        while waiting or self._busy:
            self._hand_out(waiting)
            for outcome in self._collect() if self._busy else ():
                again = follow(outcome)
                if again is not None:
                    waiting.appendleft(again)
                yield outcome

    def _hand_out(self, waiting: deque[Job]) -> None:
        for pid, worker in list(self._workers.items()):
            job = None
            while job is None and waiting and pid not in self._busy:
                job = self._work.admit(waiting.popleft())
            if job is None:
                continue
            self._busy[pid] = job
            try:
                worker.channel.send(json.dumps(job).encode())
            except OSError:
                continue  # it died while idle; its end of file hands the job back as lost

    def _collect(self) -> list[Outcome]:
        outcomes = []
        for key, _ in self._selector.select():
            pid = key.data
            try:
                packet = self._workers[pid].channel.recv(_PACKET)
            except OSError:
                packet = b""
            job = self._busy.pop(pid, None)
            if packet:
                outcomes.append(Outcome(*json.loads(packet)))
                continue
            self._dismiss(pid)
            self._hire()
            if job is not None:
                outcomes.append(Outcome(job.trial, job.attempt, "interrupted", "its worker was lost"))
        return outcomes

    def _hire(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            ours.close()
            for worker in self._workers.values():
                worker.channel.close()
            _leave_after(lambda: _serve(theirs, self._work, parent))
        theirs.close()
        self._workers[pid] = _Process(pid, ours)
        self._selector.register(ours, selectors.EVENT_READ, pid)

    def _dismiss(self, pid: int) -> None:
        worker = self._workers.pop(pid)
        self._selector.unregister(worker.channel)
        worker.channel.close()
        _kill(pid)

    def close(self) -> None:
        """Kill the workers and all below them, and wait until they are gone."""
        for pid in list(self._workers):
            self._dismiss(pid)
        self._selector.close()
        _end_children(self._strangers)
        _prctl(_PR_SET_CHILD_SUBREAPER, 0)
        gc.unfreeze()


def _serve(channel: socket.socket, work: Work, parent: int) -> None:
    """A worker: it forks the processes that do the jobs, so that no thread is ever alive in the one that forks.

    Orphans of a trial come to it, and when the pool's own process dies it ends them before it goes.
    """
    signal.signal(signal.SIGTERM, lambda *_: _abandon())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _die_with(parent, signal.SIGTERM)
    process: _Process | None = None
    while packet := _receive(channel):
        job = Job(*json.loads(packet))
        if process is None:
            work.expect(job)
            gc.freeze()  # what the fork shares stays shared
            process = _fork_process(work)
        outcome = _hand_over(process, job)
        if outcome is None or not work.lasts(outcome):
            status = _end(process)
            process = None
            outcome = outcome or _lost(job, status)
        _tell(channel, outcome)


def _fork_process(work: Work) -> _Process:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _leave_after(lambda: _do_jobs(theirs, work, parent))
    theirs.close()
    return _Process(pid, ours)


def _do_jobs(channel: socket.socket, work: Work, parent: int) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _die_with(parent, signal.SIGKILL)
    while packet := _receive(channel):
        outcome = _attempt(work, Job(*json.loads(packet)))
        _tell(channel, outcome)


def _receive(channel: socket.socket) -> bytes:
    """The next job; nothing when there is none, or when whoever would have given it has died."""
    try:
        return channel.recv(_PACKET)
    except OSError:
        return b""


def _tell(channel: socket.socket, outcome: Outcome) -> None:
    """Hand the outcome up; that nobody is there any more shows when the next job is asked for."""
    with suppress(OSError):
        channel.send(json.dumps(outcome).encode()[:_PACKET])


def _attempt(work: Work, job: Job) -> Outcome:
    """The outcome of the job; a fault of ours is one that stops the run, since the next trial would meet it too."""
    try:
        return work.execute(job)
    except Exception as fault:  # noqa: BLE001 - told in full on stderr, and in the error that stops the run
        traceback.print_exc()
        what = f"RUN014 a fault of overeager itself: {type(fault).__name__}: {fault}"
        return Outcome(job.trial, job.attempt, "infrastructure_error", what, error=what)


def _hand_over(process: _Process, job: Job) -> Outcome | None:
    """The outcome of the job, None when its process was lost."""
    try:
        process.channel.send(json.dumps(job).encode())
        said = process.channel.recv(_PACKET)
    except OSError:
        said = b""
    return Outcome(*json.loads(said)) if said else None


def _end(process: _Process) -> int:
    """Let the process end, and wait for it and all that it has left; its status."""
    process.channel.close()
    _, status = os.waitpid(process.pid, 0)
    _end_children()
    return os.waitstatus_to_exitcode(status)


def _lost(job: Job, status: int) -> Outcome:
    return Outcome(job.trial, job.attempt, "interrupted", f"its process ended with status {status}")


def _leave_after(work: Callable[[], None]) -> NoReturn:
    """Run `work` in a forked child and leave at once, whatever happens: no clean-up of the parent's runs twice."""
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - a forked child reports by stderr and status; it must not unwind further
        traceback.print_exc()
    finally:
        os._exit(status)


def _abandon() -> NoReturn:
    _end_children()
    os._exit(1)


def _end_children(strangers: Collection[int] = ()) -> None:
    """Kill and reap every child but `strangers`, orphans that come to us included.

    Nearly all of them are dying by the death of their parent. Not so a bubblewrap whose outer process was killed
    while the inner one waited for its user map: that one would wait for ever.
    """
    while ours := [pid for pid in _children() if pid not in strangers]:
        for pid in ours:
            _kill(pid)
        for pid in ours:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children() -> list[int]:
    """Our children; of a process with one thread."""
    return [int(word) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _die_with(parent: int, how: signal.Signals) -> None:
    _prctl(_PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:
        os._exit(1)  # it died before we could ask to be told


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
