"""One whole sandboxed process tree for a test: played in a forked child, as the trials of a run are."""

from __future__ import annotations

import atexit
import functools
import json
import os
import pickle
import selectors
import shutil
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overeager.audit.kernel.pump import build as pump_build
from overeager.audit.shim.build import build
from overeager.audit.shim.mounts import mounts
from overeager.contract.effects import Finished, Identity, Limits, Mount, Room, SandboxPlan, Started
from overeager.run.stage import Rig
from overeager.run.staging import AnyRig, AnyStage, open_stage
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import locate_bubblewrap
from overeager.store.room import close_room, open_room

PROJECT = "/home/user/project-x"
ENVIRONMENT = {"HOME": "/home/user", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "USER": "user"}
SHIMMED = ("cat", "cp", "git", "mv", "python3", "rm", "touch")
ORDINARY = 1741
"""A user that no account has, and that root is not dropped to either."""
LIMITS = Limits(seconds=60)
USERS = ("root-dropped", "ordinary") if os.geteuid() == 0 else ("ordinary",)

Record = dict[str, Any]


class Played(NamedTuple):
    """What was seen of one script."""

    finished: Finished
    stdout: str
    stderr: str
    kernel: list[Record]
    """Without the last line, `{"end": …}`, which is checked where the channel is present."""
    shim: list[Record]
    noted: object
    """What `during` returned."""

    def calls(self, name: str, path: str | None = None) -> list[Record]:
        """The kernel records of one call (`open` for all opens), perhaps of one path only."""
        names = {"open", "openat", "openat2", "creat"} if name == "open" else {name}
        found = [record for record in self.kernel if record["call"] in names]
        return [record for record in found if path is None or path in record.get("paths", ())]


During = Callable[[Any, Started, Room], object]
"""Runs after the agent was let go, in the process of the trial."""


def play(
    script: str | Sequence[str],
    *,
    user: str = USERS[0],
    files: Mapping[str, str] | None = None,
    during: During | None = None,
    prepare: Callable[[Room], tuple[Mount, ...]] | None = None,
    environment: Mapping[str, str] = ENVIRONMENT,
    ports: tuple[int, ...] = (),
    hosts: tuple[str, ...] = (),
    shims: bool = True,
    kernel: bool = True,
    limits: Limits = LIMITS,
    stdin: bytes | None = None,
    shim_form: str | None = None,
    sandbox: str = "bubblewrap",
    compiled: bool = True,
) -> Played:
    """Run `script` (shell text, or an argv) in a sandbox of its own and tell all that was seen.

    `user` is one of USERS; `files` lie in the workspace; `prepare` may lay more into the room and returns more mounts;
    `stdin` makes stdin a pipe that first holds these bytes; `sandbox` is "bubblewrap" or "docker", by a daemon of the
    tests' own (skips where there can be none); without `compiled` the kernel channel has its Python form. The streams
    are read while the script runs.
    """
    equipment = make_equipment(shim_form) if sandbox == "bubblewrap" else make_container_equipment(user)
    if not compiled:
        equipment = equipment._replace(pump=None)

    def trial() -> Played:
        become(user)
        identity = choose_identity()
        room = open_room(None, identity)
        try:
            records = room.root / "out"
            records.mkdir()
            more = prepare(room) if prepare else ()
            _lay(room, files or {}, identity.uid, identity.gid)
            argv = ("/bin/sh", "-c", script) if isinstance(script, str) else tuple(script)
            plan = SandboxPlan(
                room,
                identity,
                argv,
                environment,
                PROJECT,
                more,
                hosts,
                ports,
                limits=limits,
                shims=shims,
                kernel=kernel,
            )
            with open_stage(plan, equipment, records, time.monotonic(), two_way=stdin is not None) as stage:
                return _attend(stage, stage.start(), room, during, stdin)
        finally:
            close_room(room)

    return in_child(trial)


def _attend(stage: AnyStage, started: Started, room: Room, during: During | None, stdin: bytes | None) -> Played:
    if started.stdin is not None:
        os.write(started.stdin, stdin or b"")
    stage.go()
    noted = during(stage, started, room) if during else None
    stdout, stderr = read_both(started)
    finished = stage.wait()
    kernel, shim = (
        _read(room.root / f"out/{name}.jsonl", health.state == "present")
        for name, health in (("kernel", finished.kernel), ("shim", finished.shim))
    )
    return Played(finished, stdout, stderr, kernel, shim, noted)


def read_both(started: Started) -> tuple[str, str]:
    """Both streams to their ends."""
    parts: dict[int, bytes] = {started.stdout: b"", started.stderr: b""}
    with selectors.DefaultSelector() as selector:
        for descriptor in parts:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                chunk = os.read(key.fd, 65536)
                parts[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return parts[started.stdout].decode(errors="replace"), parts[started.stderr].decode(errors="replace")


def become(user: str) -> None:
    """Give up root for good when the test is to run as an ordinary user."""
    if user == "ordinary" and os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(ORDINARY, ORDINARY, ORDINARY)
        os.setresuid(ORDINARY, ORDINARY, ORDINARY)


def in_child(work: Callable[[], Any]) -> Any:
    """The result of `work` in a forked child (which has no threads, whatever pytest has); its exceptions too."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks beside threads
        child = os.fork()
    if child == 0:
        os.close(reader)
        with open(writer, "wb") as pipe:
            pipe.write(_outcome(work))
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    assert answer, "the child died without a word"
    good, value, trace = pickle.loads(answer)
    if not good:
        value.add_note(trace)
        raise value
    return value


def _outcome(work: Callable[[], Any]) -> bytes:
    try:
        return pickle.dumps((True, work(), ""))
    except BaseException as error:  # noqa: BLE001  # it is raised again on the other side
        return pickle.dumps((False, error, traceback.format_exc()))


@functools.cache
def make_equipment(shim_form: str | None = None) -> Rig:
    """bubblewrap and shims, reachable for every user, made once a test process."""
    cache = Path(tempfile.mkdtemp(prefix="w"))
    cache.chmod(0o755)
    atexit.register(shutil.rmtree, cache, ignore_errors=True)
    shim = build(cache, form=shim_form)  # type: ignore[arg-type]  # a test names one of its forms
    bubblewrap = locate_bubblewrap(cache, choose_identity())
    return Rig(bubblewrap, shim.path, mounts(shim, SHIMMED), shim.form, pump=pump_build.build(cache).path)


def make_container_equipment(user: str) -> AnyRig:
    """An engine and an image with the same shims, for trials of one of USERS."""
    import docker_kit

    identity = choose_identity()
    if user == "ordinary" and identity.drop:
        identity = Identity(ORDINARY, ORDINARY, drop=False)
    return docker_kit.make_rig(identity, make_equipment().init.parent.parent, SHIMMED)


def _lay(room: Room, files: Mapping[str, str], uid: int, gid: int) -> None:
    project = room.home / "project-x"
    project.mkdir(exist_ok=True)
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    for parent, _, names in os.walk(room.home):
        for path in (parent, *(os.path.join(parent, name) for name in names)):
            os.chown(path, uid, gid, follow_symlinks=False)


def _read(path: Path, whole: bool) -> list[Record]:
    """The records; a channel that claims to be whole must end in its count."""
    if not path.is_file():
        return []
    records = [json.loads(line) for line in path.read_text().split("\n")[:-1]]
    if whole:
        assert records.pop() == {"end": len(records)}
    return records


def find_processes(mark: str) -> list[int]:
    """The host's processes in whose command line `mark` stands."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in command:
                found.append(int(entry.name))
    return found


def until(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether `condition` comes true while we wait for it."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
