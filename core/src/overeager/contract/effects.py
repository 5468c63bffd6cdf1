"""The values by which sandbox, audit, gateway and store meet; only `run` hands them from one to the other."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, Protocol


class Mount(NamedTuple):
    """A host path seen inside the sandbox. Mount points must exist in what lies above them."""

    source: Path
    """On the host; a neutral path, since /proc/self/mountinfo shows it inside."""
    target: str
    """Inside."""
    writable: bool = False


class Room(NamedTuple):
    """One trial's private folders on the host, below `<tmp>/w<uid>/<8 hex>` (mode 0700, parent 0711)."""

    root: Path
    home: Path
    """Seen as /home/user; the workspace lies in it."""
    tmp: Path
    """Seen as /tmp."""
    etc: Path
    """Seen as /etc."""
    local: Path
    """Seen as /usr/local: bin, lib, libexec."""
    run: Path
    """Sockets; seen one by one."""
    lock: int = -1
    """Descriptor of the lock that says that the room's owner lives; -1 = none."""


class Identity(NamedTuple):
    """The ordinary host user that the agent runs as; for an ordinary caller, the caller."""

    uid: int
    gid: int
    drop: bool
    """True = the caller is root and must drop to it before the sandbox starts."""


class Limits(NamedTuple):
    """Bounds of one trial."""

    seconds: float
    """Wall time of the agent."""
    file_bytes: int = 1 << 30
    """Largest file that a process inside may write (RLIMIT_FSIZE)."""
    room_bytes: int = 4 << 30
    """How much the trial's writable folders may hold together."""
    stream_bytes: int = 1 << 26
    """How much of each output stream is kept."""
    memory_bytes: int = 4 << 30
    """What all processes inside may hold together; kept by containers only."""
    processes: int = 4096
    """How many threads and processes there may be at once; in bubblewrap, of a user that root drops to."""
    processors: float = 2.0
    """How many processors' time they may take; kept by containers only."""


class SandboxPlan(NamedTuple):
    """What is to run and what it may see; a sandbox turns it into a process tree."""

    room: Room
    identity: Identity
    argv: tuple[str, ...]
    """The agent's command line, by inside paths."""
    environment: Mapping[str, str]
    """Exactly the agent's environment."""
    cwd: str
    """The workspace, inside."""
    mounts: tuple[Mount, ...] = ()
    """Beyond the recipe's own: the agent's install."""
    hosts: tuple[str, ...] = ()
    """Names that /etc/hosts maps to 127.0.0.1."""
    ports: tuple[int, ...] = ()
    """Ports on the sandbox's loopback that the host opens from outside."""
    datagrams: tuple[int, ...] = ()
    """The same, of UDP sockets; they stand at the resolver's address."""
    limits: Limits = Limits(seconds=300)
    shims: bool = True
    kernel: bool = True


class Command(NamedTuple):
    """A process to start: what the sandbox makes of a plan and the auditor starts as its child."""

    executable: Path
    """On the host, executable by `identity`."""
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    """Exactly this; nothing is added."""
    fds: tuple[int, ...]
    """Descriptors that stay open in the child, beside 0, 1 and 2."""
    stdin: int
    stdout: int
    stderr: int
    identity: Identity
    limits: Limits


class Opening(NamedTuple):
    """A socket that stands inside the sandbox's network and is served from outside."""

    protocol: Literal["tcp", "udp"]
    address: str
    port: int


class Listener(NamedTuple):
    """A listening socket (or a UDP one) inside the sandbox's network namespace, held by the host."""

    port: int
    socket: socket.socket
    protocol: Literal["tcp", "udp"] = "tcp"


class Started(NamedTuple):
    """A sandbox whose first process waits for the go."""

    pid: int
    """Host pid of the sandbox's first process."""
    listeners: tuple[Listener, ...]
    stdout: int
    """File descriptor of the agent's output; the caller reads and closes it."""
    stderr: int
    stdin: int | None
    """Write end for two-way protocols; None = /dev/null."""


class RecorderHealth(NamedTuple):
    """What a channel's recorder says of itself."""

    state: str
    """present, truncated or absent."""
    reason: str


class Finished(NamedTuple):
    """The end of a sandbox: everything in it is dead."""

    exit_status: int | None
    """The agent's: 0-255, or 128 + signal; None when unknown."""
    killed: str
    """Why we killed it: '' (we did not), 'time', 'room', 'stop'."""
    auditor_lost: bool
    """True = the auditor ended before it could say that all is dead."""
    kernel: RecorderHealth
    """The kernel channel's health by its recorder."""
    shim: RecorderHealth
    detail: str = ""
    compiled: bool = False
    """Whether the kernel channel was recorded by the compiled loop."""


class SandboxProcess(Protocol):
    """A running sandbox, from `open` to `close`."""

    def start(self) -> Started:
        """Build the namespaces and stop before the agent's first instruction; raises OvereagerError SBX…"""

    def go(self) -> None:
        """Let the agent run."""

    def stop(self, why: str) -> None:
        """Kill everything inside; `wait` then returns. Callable from any thread, more than once."""

    def wait(self) -> Finished:
        """Block until everything inside is dead (POLLHUP of the seccomp listener where there is one)."""
