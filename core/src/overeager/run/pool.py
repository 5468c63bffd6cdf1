"""One process a trial, a few workers that fork them, and nothing left behind whoever dies."""

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
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

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


Execute: TypeAlias = Callable[[Job], Outcome]
Expect: TypeAlias = Callable[[Job], None]


class _Worker(NamedTuple):
    pid: int
    channel: socket.socket


class Pool:
    """Workers that are forked before the caller starts any thread; a lost one is replaced.

    `execute` runs in a process of its own for each job, `expect` before that in the worker: what it makes ready lies
    in memory that the worker's later processes share.
    """

    def __init__(self, execute: Execute, size: int, expect: Expect = lambda _: None) -> None:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        gc.collect()
        gc.freeze()  # what is shared with the children stays shared
        self._execute, self._expect = execute, expect
        self._workers: dict[int, _Worker] = {}
        self._busy: dict[int, Job] = {}
        self._selector = selectors.DefaultSelector()
        for _ in range(size):
            self._hire()

    def run(self, jobs: Sequence[Job], follow: Callable[[Outcome], Job | None]) -> Iterator[Outcome]:
        """Outcomes as they come; `follow` may give another attempt of the same trial."""
        waiting = deque(jobs)
        while waiting or self._busy:
            self._hand_out(waiting)
            for outcome in self._collect():
                again = follow(outcome)
                if again is not None:
                    waiting.appendleft(again)
                yield outcome

    def _hand_out(self, waiting: deque[Job]) -> None:
        for pid, worker in list(self._workers.items()):
            if waiting and pid not in self._busy:
                job = waiting.popleft()
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
            _leave_after(lambda: _serve(theirs, self._execute, self._expect, parent))
        theirs.close()
        self._workers[pid] = _Worker(pid, ours)
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
        _reap_all()
        _prctl(_PR_SET_CHILD_SUBREAPER, 0)
        gc.unfreeze()


def _serve(channel: socket.socket, execute: Execute, expect: Expect, parent: int) -> None:
    """A worker: forks a process for each job, so that no thread is ever alive in the process that forks."""
    _die_with(parent)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while packet := channel.recv(_PACKET):
        job = Job(*json.loads(packet))
        expect(job)
        gc.freeze()
        channel.send(json.dumps(_run_apart(job, execute)).encode())


def _run_apart(job: Job, execute: Execute) -> Outcome:
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _leave_after(lambda: _report(job, execute, writer, parent))
    os.close(writer)
    with open(reader, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    _reap_all()
    if said:
        return Outcome(*json.loads(said))
    cause = f"its process ended with status {os.waitstatus_to_exitcode(status)}"
    return Outcome(job.trial, job.attempt, "interrupted", cause)


def _report(job: Job, execute: Execute, writer: int, parent: int) -> None:
    _die_with(parent)
    outcome = execute(job)
    os.write(writer, json.dumps(outcome).encode()[:_PACKET])


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


def _reap_all() -> None:
    """Wait for every child, orphans of ours included; all of them are dying by the death of their parent."""
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _die_with(parent: int) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it died before we could ask to be told


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
