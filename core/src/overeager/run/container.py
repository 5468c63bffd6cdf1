"""One container with its auditor: the same promises as `Stage`, kept by a container engine.

The engine starts the container, so the auditor is not its parent: the first process inside comes to meet us, and from
then on the auditor alone holds the line to it. When that hangs up, the container leaves; the auditor dies with the
trial's process, as everywhere.
"""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path
from typing import NamedTuple

from overeager.audit.auditor.process import Auditor, assign
from overeager.audit.kernel import seccomp
from overeager.audit.kernel.origin import announce
from overeager.audit.kernel.syscalls import calls
from overeager.contract.effects import Finished, Listener, Mount, RecorderHealth, Room, SandboxPlan, Started
from overeager.errors import OvereagerError
from overeager.run.auditing import Audit, assignment_of, finish_unwatched
from overeager.run.first_process import FirstProcess
from overeager.run.openings import openings
from overeager.sandbox import docker, docker_meeting
from overeager.sandbox.docker_engine import Engine
from overeager.sandbox.docker_meeting import Handed, Met

_PATIENCE = 60.0
"""Seconds until a started container's first process must have come."""


class ContainerRig(NamedTuple):
    """What all trials of a worker are staged with, in containers."""

    engine: Engine
    image: str
    """Id of the derived image."""
    init: Path
    shim_mounts: tuple[Mount, ...] = ()
    """Where the shims stand; they are in the image already."""
    shim_form: str = "cc"
    shared: Room | None = None
    """The room whose /etc all have; None = each has its own."""
    pump: Path | None = None
    """The compiled loop of the kernel channel; None = its Python form."""


class _Ends(NamedTuple):
    """Our ends of the pipes whose other ends are inside."""

    go: int
    status: int
    stdout: int
    stderr: int
    stdin: int | None


class ContainerStage:
    """A `SandboxProcess`: a container, watched by an auditor that writes `kernel.jsonl` and `shim.jsonl` to `records`.

    Arguments, and what is whose, as for `Stage`.
    """

    def __init__(
        self,
        plan: SandboxPlan,
        rig: ContainerRig,
        records: Path,
        began: float,
        *,
        two_way: bool = False,
        auditor: Auditor | None = None,
    ) -> None:
        self._plan, self._rig, self._records, self._began = plan, rig, records, began
        self._two_way = two_way
        self._audit = Audit(auditor)
        self._first = FirstProcess()
        self._container: docker.Container | None = None
        self._ends: _Ends | None = None
        self._refusal = ""

    def __enter__(self) -> ContainerStage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Started:
        """Make and start the container, and stop before the agent's first instruction.

        Raises SBX003 when the plan cannot be met, SBX005 when a port cannot be opened, SBX022 when the engine refuses,
        SBX025 when the first process does not come, AUD001 when there are threads.
        """
        if self._plan.room.etc.parent == self._plan.room.root:
            docker.furnish(self._plan.room, self._plan.hosts)
        try:
            return self._start(self._audit.begin())
        except BaseException:
            ends = self._ends
            self.close()
            for descriptor in (ends.stdin, ends.stdout, ends.stderr) if ends else ():
                if descriptor is not None:
                    os.close(descriptor)
            raise

    def _start(self, auditor: Auditor) -> Started:
        announcement = self._engage(auditor)
        with announcement:
            met = self._meet()
            with met.tether:
                self._first.hold(met.pid)
                handed = self._open_ends()
                program = self._program(met)
                try:
                    docker_meeting.send_order(met, self._plan, openings(self._plan), program, handed)
                finally:
                    for descriptor in handed:
                        os.close(descriptor)
                listeners = docker_meeting.receive_listeners(met, openings(self._plan))
                self._hand_over(announcement, met, program, listeners)
        assert self._ends is not None
        return Started(met.pid, listeners, self._ends.stdout, self._ends.stderr, self._ends.stdin)

    def _engage(self, auditor: Auditor) -> socket.socket:
        """Assign the auditor, and wait until what the container is to find of it stands; the way to tell it more."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            rig = self._rig
            work = assignment_of(self._plan, None, self._began, self._records, rig.shim_form, rig.pump)
            assign(auditor, work, theirs.fileno())
        if not ours.recv(1):
            report = self._audit.end()
            ours.close()
            raise OvereagerError("AUD002", f"the auditor broke: {report.failure.strip() if report else 'it is lost'}")
        return ours

    def _meet(self) -> Met:
        """Start the container and let its first process in."""
        run = self._plan.room.run
        with docker_meeting.open_door(run) as door:
            self._container = docker.create(self._plan, self._rig.engine, self._rig.image)
            docker.start(self._container)
            met = docker_meeting.let_in(door, run, _PATIENCE)
        if met is None:
            raise OvereagerError(
                "SBX025",
                f"the container's first process did not come: {docker.read_logs(self._container)}",
                where=self._rig.image,
                cure="`overeager doctor --sandbox docker` tries each mechanism",
            )
        return met

    def _open_ends(self) -> Handed:
        go_theirs, go = os.pipe()
        status, status_theirs = os.pipe()
        stdout, stdout_theirs = os.pipe()
        stderr, stderr_theirs = os.pipe()
        stdin_theirs, stdin = os.pipe() if self._two_way else (os.open(os.devnull, os.O_RDONLY), None)
        self._ends = _Ends(go, status, stdout, stderr, stdin)
        return Handed(stdin_theirs, stdout_theirs, stderr_theirs, go_theirs, status_theirs)

    def _program(self, met: Met) -> bytes:
        """The filter, when its listener can be had: a filter whose listener nobody has would stop everything."""
        table = calls() if self._plan.kernel else None
        if not table:
            return b""
        try:
            os.close(docker_meeting.copy_descriptor(met.pid, 0))
        except OSError as error:
            self._refusal = f"descriptors of the container's processes cannot be had here: {error.strerror}"
            return b""
        return seccomp.build_own_filter(table)

    def _hand_over(
        self, announcement: socket.socket, met: Met, program: bytes, listeners: tuple[Listener, ...]
    ) -> None:
        """From here on the auditor alone holds the line to the container, and the listener."""
        assert self._ends is not None
        try:
            listener, refusal = docker_meeting.fetch_listener(met, self._ends.status) if program else (-1, 0)
            announce(announcement, met.pid, met.tether.fileno(), listener, refusal)
        except OSError:
            for one in listeners:
                one.socket.close()
            raise
        if listener >= 0:
            os.close(listener)

    @property
    def report(self) -> int:
        """Of a started stage: what can be read when its auditor has done, and `wait` will not be long."""
        return self._audit.report

    def go(self) -> None:
        """Let the agent run; once. That the container was killed meanwhile is `wait`'s to tell."""
        assert self._ends is not None
        with contextlib.suppress(BrokenPipeError):
            os.write(self._ends.go, b"0")

    def stop(self, why: str) -> None:
        """Kill everything inside; the first `why` is the one that counts. From any thread, at any time."""
        self._first.stop(why)

    def wait(self) -> Finished:
        """Block until everything inside is dead, whatever happened to the auditor."""
        assert self._ends is not None
        report = self._audit.end()
        if report is None or report.failure:
            self._first.kill()
        self._first.wait()
        status = docker_meeting.read_status(self._ends.status)
        self.close()
        if report is None or report.failure:
            return finish_unwatched(status, self._first.why, report)
        kernel = RecorderHealth("absent", self._refusal) if self._refusal else report.kernel
        detail = "" if status is not None or self._first.why else "the container ended before the agent did"
        return Finished(status, self._first.why, False, kernel, report.shim, detail, report.compiled)

    def close(self) -> None:
        """Kill what still lives and give everything back; the agent's streams are the caller's once started."""
        self.stop("stop")
        if self._container is not None:
            container, self._container = self._container, None
            if not self._first.is_held:
                docker.remove(container)
        self._audit.end()
        self._first.release()
        if self._ends is not None:
            os.close(self._ends.go)
            os.close(self._ends.status)
            self._ends = None
