"""One sandbox with its auditor, from the first fork to the proof that everything inside is dead.

The tree: trial process -> auditor -> bubblewrap -> init (pid 1 inside) -> agent. Each dies with the one before it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
from pathlib import Path
from typing import NamedTuple

from overeager.audit.auditor.assignment import AuditReport
from overeager.audit.auditor.process import Auditor, assign
from overeager.contract.effects import Finished, Listener, Mount, Room, SandboxPlan, Started
from overeager.errors import OvereagerError
from overeager.run.auditing import Audit, assignment_of, finish_unwatched
from overeager.run.first_process import FirstProcess, poll
from overeager.run.openings import openings
from overeager.sandbox.bubblewrap import Prepared, Steering, prepare, read_document
from overeager.sandbox.locate import Bubblewrap
from overeager.sandbox.netns import open_listeners
from overeager.sandbox.probe import find_cure

_MOST_STDERR = 4000


class Rig(NamedTuple):
    """What all trials of a worker are staged with."""

    bubblewrap: Bubblewrap
    init: Path
    """The program of the first process inside."""
    shim_mounts: tuple[Mount, ...] = ()
    """The shims over the real programs; used when the plan wants shims."""
    shim_form: str = "cc"
    """`sh` writes to a FIFO, every other form sends datagrams."""
    shared: Room | None = None
    """The room whose /etc and /usr/local all have; None = each has its own."""
    pump: Path | None = None
    """The compiled loop of the kernel channel; None = its Python form."""


class Stage:
    """A `SandboxProcess`: bubblewrap, watched by an auditor that writes `kernel.jsonl` and `shim.jsonl` to `records`.

    `began` is the start of the trial on CLOCK_MONOTONIC, from which the records' times count; `two_way` gives the
    agent a pipe as stdin; `auditor` is one that the caller keeps, else the stage has its own. `start` must be called in
    the main thread, before the process has other threads. `wait` gives everything back that `start` took, but for the
    streams, which are the caller's; so does `close` without it.
    """

    def __init__(
        self,
        plan: SandboxPlan,
        rig: Rig,
        records: Path,
        began: float,
        *,
        two_way: bool = False,
        auditor: Auditor | None = None,
    ) -> None:
        self._plan, self._rig, self._records, self._began = plan, rig, records, began
        self._two_way = two_way
        self._steering: Steering | None = None
        self._audit = Audit(auditor)
        self._first = FirstProcess()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Started:
        """Build the namespaces and stop before the agent's first instruction.

        Raises SBX003 when the plan cannot be met, SBX006 with bubblewrap's words when it fails, SBX005 when a port
        cannot be opened, AUD001 when there are threads.
        """
        rig = self._rig
        prepared = prepare(self._plan, rig.bubblewrap, rig.init, rig.shim_mounts, two_way=self._two_way)
        self._steering = prepared.steering
        try:
            return self._start(prepared)
        except BaseException:
            self.close()
            for descriptor in (prepared.steering.stdin, prepared.steering.stdout, prepared.steering.stderr):
                if descriptor is not None:
                    os.close(descriptor)
            raise

    def _start(self, prepared: Prepared) -> Started:
        try:
            auditor = self._audit.begin()
            rig = self._rig
            work = assignment_of(self._plan, prepared.command, self._began, self._records, rig.shim_form, rig.pump)
            assign(auditor, work)
        finally:
            for descriptor in prepared.theirs:
                os.close(descriptor)
        steering = prepared.steering
        pid = read_document(steering.status, "child-pid")
        if pid is None:
            raise self._failure(steering)
        with contextlib.suppress(ProcessLookupError):
            self._first.hold(pid)
        listeners = self._open_listeners(pid, steering)
        poll(steering.built.fileno(), select.POLLHUP)
        if _was_reset(steering.built) or self._first.is_dead:
            for listener in listeners:
                listener.socket.close()
            raise self._failure(steering)
        return Started(pid, listeners, steering.stdout, steering.stderr, steering.stdin)

    def _open_listeners(self, pid: int, steering: Steering) -> tuple[Listener, ...]:
        """The network stands before the mounts do; when bubblewrap has failed meanwhile, that is the cause."""
        try:
            return open_listeners(pid, openings(self._plan))
        except OvereagerError as error:
            if self._first.is_dead:
                raise self._failure(steering) from error
            raise

    def _failure(self, steering: Steering) -> OvereagerError:
        """What bubblewrap said before it died, with the cure where it is known."""
        report = self._audit.end()
        text = _read_all(steering.stderr).strip()
        if not text and report is not None:
            text = report.failure.strip().splitlines()[-1] if report.failure else "it ended without a word"
        return OvereagerError(
            "SBX006", f"the sandbox could not be built: {text}", where=self._plan.room.root, cure=find_cure(text)
        )

    @property
    def report(self) -> int:
        """Of a started stage: what can be read when its auditor has done, and `wait` will not be long."""
        return self._audit.report

    def go(self) -> None:
        """Let the agent run; once. That the sandbox was killed meanwhile is `wait`'s to tell."""
        assert self._steering is not None
        with contextlib.suppress(BrokenPipeError):
            os.write(self._steering.go, b"0")

    def stop(self, why: str) -> None:
        """Kill everything inside; the first `why` is the one that counts. From any thread, at any time."""
        self._first.stop(why)

    def wait(self) -> Finished:
        """Block until everything inside is dead, whatever happened to the auditor."""
        assert self._audit.auditor is not None
        assert self._steering is not None
        report = self._audit.end()
        if self._first.is_held:
            if report is None:
                self._first.kill()
            self._first.wait()
        status = read_document(self._steering.status, "exit-code")
        self.close()
        if report is None or report.failure:
            return finish_unwatched(status, self._first.why, report)
        detail = _detail(status, report, self._first.why)
        return Finished(status, self._first.why, False, report.kernel, report.shim, detail, report.compiled)

    def close(self) -> None:
        """Kill what still lives and give every descriptor back; the agent's streams are the caller's once started."""
        self.stop("stop")
        if self._audit.auditor is not None:
            if not self._first.is_held:
                os.kill(self._audit.auditor.pid, signal.SIGKILL)
            self._audit.end()
        self._first.release()
        if self._steering is not None:
            for descriptor in (self._steering.status, self._steering.go):
                os.close(descriptor)
            self._steering.built.close()
            self._steering = None


def _detail(status: int | None, report: AuditReport, why: str) -> str:
    """What is odd about an end that nobody brought about."""
    if status is not None or why:
        return ""
    outer = "a signal" if report.exit_status is None else f"status {report.exit_status}"
    return f"the sandbox ended before the agent did, with {outer}"


def _was_reset(built: socket.socket) -> bool:
    """Whether the other end closed without having read what we sent: a process closes its files before it is dead."""
    try:
        built.recv(1)
    except ConnectionResetError:
        return True
    return False


def _read_all(descriptor: int) -> str:
    """What can be read up to the end; every writer is dead."""
    parts = []
    while chunk := os.read(descriptor, 4096):
        parts.append(chunk)
    return b"".join(parts)[:_MOST_STDERR].decode(errors="replace")
