"""From a plan to a bubblewrap command line, and to the descriptors by which it is steered."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from overeager import canonical
from overeager.contract.effects import Command, Identity, Mount, Room, SandboxPlan
from overeager.errors import OvereagerError
from overeager.sandbox.etc import HOSTNAME, UID, USER, borrowed_files, borrowed_folders, etc_files, write_etc
from overeager.sandbox.locate import Bubblewrap

HOME = f"/home/{USER}"
INIT = "/usr/local/libexec/init"
"""The first process inside."""
MEETING = "/run/systemd/notify"
"""Where what runs inside can send datagrams to; such a socket lies there on real machines."""
MEETING_NAME = "notify"
"""The same in `Room.run`."""
_READY = "/run/utmp"
"""The last file that is made; bubblewrap closes its source when all mounts stand."""

_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--uid", str(UID), "--gid", str(UID), "--hostname", HOSTNAME,
    "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL",
)  # fmt: skip
_KERNEL_FOLDERS = (
    "--proc", "/proc", "--dev", "/dev",
    "--perms", "1777", "--size", str(256 << 20), "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
)  # fmt: skip
_PLAIN_FOLDERS = ("/var/tmp", "/var/log", "/var/cache", "/root", "/opt", "/mnt", "/srv", "/media", "/home")
_LOCAL_FOLDERS = ("bin", "etc", "games", "include", "lib", "libexec", "sbin", "share", "src")
"""What an ordinary /usr/local has."""
_RUN = ("--perms", "0755", "--size", str(16 << 20), "--tmpfs", "/run", "--dir", "/run/systemd", "--dir", "/run/lock")

_SEALED = ("--remount-ro", "/run", "--remount-ro", "/")
"""What is closed when all mounts stand: nobody may move the folder of MEETING away."""


class Steering(NamedTuple):
    """The trial's ends of what a prepared command holds the other ends of."""

    status: int
    """Read end: bubblewrap's JSON documents, `child-pid` and at the end `exit-code`."""
    go: int
    """Write end: one byte lets the agent start."""
    built: socket.socket
    """Hangs up when every mount stands, or when bubblewrap has died."""
    stdin: int | None
    stdout: int
    stderr: int


class Prepared(NamedTuple):
    """A command that is ready to be started once."""

    command: Command
    steering: Steering
    theirs: tuple[int, ...]
    """The command's own descriptors; the caller closes them when the command has been started."""


def prepare(
    plan: SandboxPlan, bubblewrap: Bubblewrap, init: Path, over: tuple[Mount, ...] = (), *, two_way: bool = False
) -> Prepared:
    """Fill the room's /etc, make the mount points, and open all descriptors.

    `init` is the first process; `over` are mounts over the system's programs, used when the plan wants them;
    `two_way` gives the agent a pipe as stdin instead of /dev/null. A room whose /etc is not its own has it from one
    that `furnish` has filled. Raises SBX003 when the plan cannot be met.
    """
    _check(plan, init)
    mounts = (*(over if plan.shims else ()), *plan.mounts)
    if plan.room.etc.parent == plan.room.root:
        furnish(plan.room, plan.hosts, init, mounts)
    arguments = build_arguments(plan, init, mounts)
    return _wire(plan, bubblewrap.executable, arguments, two_way)


def furnish(room: Room, hosts: tuple[str, ...], init: Path, mounts: Sequence[Mount]) -> None:
    """Fill the room's read-only folders, /etc and /usr/local, mount points for `init` and `mounts` included.

    Nothing in them differs from trial to trial, so rooms of one run may share them.
    """
    with _usual_modes():
        for name in _LOCAL_FOLDERS:
            (room.local / name).mkdir(exist_ok=True)
        write_etc(room.etc, hosts)
        for mount in (Mount(init, INIT), *mounts):
            make_mount_point(room, mount)


@contextlib.contextmanager
def _usual_modes() -> Iterator[None]:
    """What is made meanwhile can be read by the agent, whatever the caller's umask is."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


def build_arguments(plan: SandboxPlan, init: Path, mounts: Sequence[Mount]) -> tuple[str, ...]:
    """All of bubblewrap's arguments but those that name descriptors."""
    room = plan.room
    return (
        *_NAMESPACES,
        *_bind(Mount(Path("/usr"), "/usr")),
        *_bind(Mount(room.local, "/usr/local")),
        *_system_links(),
        *_bind(Mount(room.etc, "/etc")),
        *(word for mount in _borrowed() for word in _bind(mount)),
        *_KERNEL_FOLDERS,
        *(word for folder in _PLAIN_FOLDERS for word in ("--dir", folder)),
        *_RUN,
        *_bind(Mount(room.tmp, "/tmp", writable=True)),
        *_bind(Mount(room.home, HOME, writable=True)),
        *_bind(Mount(init, INIT)),
        *(_bind(Mount(room.run / MEETING_NAME, MEETING, writable=True)) if plan.shims else ()),
        *(word for mount in mounts for word in _bind(mount)),
        "--chdir",
        plan.cwd,
    )  # fmt: skip


def recipe_digest(bubblewrap: Bubblewrap, hosts: tuple[str, ...] = ()) -> str:
    """SHA-256 of what makes every sandbox of this kind alike: arguments, bubblewrap's bytes, the own /etc.

    What differs from trial to trial (the room, the agent's install) is blanked.
    """
    room = Room(Path("/root"), Path("/home"), Path("/tmp"), Path("/etc"), Path("/local"), Path("/run"))
    plan = SandboxPlan(room, Identity(UID, UID, drop=False), (), {}, HOME)
    arguments = build_arguments(plan, Path("/init"), ())
    return canonical.digest({"arguments": list(arguments), "program": bubblewrap.sha256, "etc": dict(etc_files(hosts))})


def _check(plan: SandboxPlan, init: Path) -> None:
    """What would make bubblewrap fail, said in our words before it starts."""
    for mount in (Mount(init, INIT), *plan.mounts):
        if not mount.source.exists():
            raise OvereagerError("SBX003", f"what is to be seen at {mount.target} does not exist", where=mount.source)
    if plan.cwd != HOME and not plan.cwd.startswith(HOME + "/"):
        raise OvereagerError("SBX003", f"the workspace {plan.cwd} does not lie below {HOME}")
    folder = plan.room.home / plan.cwd.removeprefix(HOME).lstrip("/")
    if not folder.is_dir():
        raise OvereagerError("SBX003", f"the workspace {plan.cwd} does not exist", where=folder)


def make_mount_point(room: Room, mount: Mount) -> None:
    """Create the mount point of `mount` in what lies above it, when that is one of the room's read-only folders."""
    for top, folder in (("/usr/local/", room.local), ("/etc/", room.etc)):
        if not mount.target.startswith(top):
            continue
        point = folder / mount.target.removeprefix(top)
        if mount.source.is_dir():
            point.mkdir(parents=True, exist_ok=True)
        else:
            point.parent.mkdir(parents=True, exist_ok=True)
            point.touch()


def _bind(mount: Mount) -> tuple[str, str, str]:
    return ("--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target)


def _borrowed() -> Iterator[Mount]:
    """What is seen of the host's /etc."""
    for name in (*borrowed_folders(), *borrowed_files()):
        yield Mount(Path("/etc", name), f"/etc/{name}")


def _system_links() -> Iterator[str]:
    """/bin, /lib and the like as this host has them: links into /usr, or folders."""
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from _bind(Mount(path, str(path)))


def _wire(plan: SandboxPlan, executable: Path, arguments: Sequence[str], two_way: bool) -> Prepared:
    status, status_theirs = os.pipe()
    block, go = os.pipe()
    built, built_theirs = socket.socketpair()
    built.send(b"\n")  # what nobody reads before the other end closes comes back as a reset: bubblewrap has failed
    built.shutdown(socket.SHUT_WR)
    stdout, stdout_theirs = os.pipe()
    stderr, stderr_theirs = os.pipe()
    stdin_theirs, stdin = os.pipe() if two_way else (os.open(os.devnull, os.O_RDONLY), None)
    steered = (
        *arguments,
        "--perms", "0644", "--file", str(built_theirs.fileno()), _READY,
        *_SEALED,
        "--json-status-fd", str(status_theirs), "--block-fd", str(block),
    )  # fmt: skip
    listed = _memory_file(b"".join(os.fsencode(word) + b"\0" for word in steered))
    fds = (listed, status_theirs, block, built_theirs.detach())
    command = Command(
        executable,
        ("bwrap", "--args", str(listed), "--", INIT, *plan.argv),
        plan.environment,
        fds,
        stdin_theirs,
        stdout_theirs,
        stderr_theirs,
        plan.identity,
        plan.limits,
    )
    steering = Steering(status, go, built, stdin, stdout, stderr)
    return Prepared(command, steering, (*fds, stdin_theirs, stdout_theirs, stderr_theirs))


def _memory_file(data: bytes) -> int:
    """A descriptor from which `data` can be read; arguments in it show in no process's command line."""
    descriptor = os.memfd_create("args", os.MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def read_document(status: int, key: str) -> int | None:
    """The number under `key` in bubblewrap's next documents; None = it ended without."""
    text = b""
    while chunk := os.read(status, 4096):
        text += chunk
        for line in text.split(b"\n"):
            with contextlib.suppress(ValueError):
                document = json.loads(line)
                if key in document:
                    return int(document[key])
    return None
