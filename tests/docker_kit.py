"""A real container engine for tests: its own daemon, its own data, and an image made of this machine's files."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from docker_root import write_root
from overeager.audit.kernel.pump import build as pump_build
from overeager.audit.shim.build import FIRST, build
from overeager.contract.effects import Identity, Mount
from overeager.run.container import ContainerRig
from overeager.run.container_image import derive_image
from overeager.sandbox.docker_engine import connect, open_engine

GROUP = 1741
"""Whoever is in it may speak to the daemon: sandbox_kit's ordinary user."""
IMAGE = "tests:host"
"""Made of this machine's own programs, so that nothing is fetched from anywhere."""
_SECONDS = 60
_DRIVERS = ("overlay2", "vfs")


class Daemon:
    """A running dockerd of our own."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes], driver: str) -> None:
        self.folder, self.process, self.driver = folder, process, driver

    @property
    def socket(self) -> Path:
        return self.folder / "s"

    @property
    def address(self) -> str:
        return f"unix://{self.socket}"


def why_not() -> str:
    """Why no daemon can be started here; empty = one can."""
    if os.geteuid() != 0:
        return "only root can start a container engine"
    for program in ("dockerd", "containerd", "runc"):
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian: apt-get install docker.io)"
    return ""


@contextlib.contextmanager
def running_daemon() -> Iterator[Daemon]:
    """A daemon whose every process and mount is gone at the end; skips where none can run."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="dk", dir="/tmp"))
    folder.chmod(0o711)
    try:
        daemon = _start(folder)
        try:
            yield daemon
        finally:
            _stop(daemon)
    finally:
        _unmount(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _start(folder: Path) -> Daemon:
    said = ""
    for driver in _DRIVERS:
        process = _spawn(folder, driver)
        daemon = Daemon(folder, process, driver)
        if _answers(daemon):
            return daemon
        _stop(daemon)
        said = (folder / "log").read_text()[-800:]
    pytest.skip(f"dockerd does not start here: {said}")


def _spawn(folder: Path, driver: str) -> subprocess.Popen[bytes]:
    command = [
        "dockerd", "--data-root", f"{folder}/d", "--exec-root", f"{folder}/e", "--pidfile", f"{folder}/pid",
        "--host", f"unix://{folder}/s", "--group", str(GROUP), "--iptables=false", "--ip6tables=false", "--bridge=none",
        "--storage-driver", driver,
    ]  # fmt: skip
    with open(folder / "log", "ab") as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=_die_with_us
        )


def _die_with_us() -> None:
    """A test process that is killed leaves no daemon behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def _answers(daemon: Daemon) -> bool:
    import docker
    from docker.errors import DockerException

    end = time.monotonic() + _SECONDS
    while time.monotonic() < end and daemon.process.poll() is None:
        if daemon.socket.exists():
            try:
                client = docker.APIClient(daemon.address, version="auto")
            except DockerException:
                time.sleep(0.05)
                continue
            client.close()
            return True
        time.sleep(0.05)
    return False


def _stop(daemon: Daemon) -> None:
    """End the daemon, and what it started in sessions of their own: containerd and the containers' keepers."""
    if daemon.process.poll() is None:
        daemon.process.send_signal(signal.SIGTERM)
        try:
            daemon.process.wait(20)
        except subprocess.TimeoutExpired:
            daemon.process.kill()
            daemon.process.wait()
    for pid in _processes_of(daemon.folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 10
    while _processes_of(daemon.folder) and time.monotonic() < end:
        time.sleep(0.02)


def _processes_of(folder: Path) -> list[int]:
    """Processes in whose command line the daemon's folder stands."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                program = Path(os.fsdecode(words[0])).name
                if program.startswith(("containerd", "dockerd")) and os.fsencode(f"{folder}/") in b" ".join(words):
                    found.append(int(entry.name))
    return found


def _unmount(folder: Path) -> None:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    places = [line.split()[4] for line in lines]
    for place in reversed([place for place in places if place.startswith(f"{folder}/")]):
        subprocess.run(["umount", "--lazy", place], check=False, capture_output=True)


def make_image(daemon: Daemon, reference: str = IMAGE) -> None:
    """Import an image with a shell, git, Python and the usual commands of this machine."""
    import docker

    with tempfile.TemporaryFile() as file:
        write_root(file)
        file.seek(0)
        client = docker.APIClient(daemon.address, version="auto")
        try:
            client.import_image_from_data(file, *reference.split(":"))
        finally:
            client.close()


@functools.cache
def shared_daemon() -> Daemon:
    """The daemon of this test process, with IMAGE in it, started when first asked for; it ends with the process."""
    context = running_daemon()
    daemon = context.__enter__()
    atexit.register(context.__exit__, None, None, None)
    make_image(daemon)
    return daemon


def environment() -> dict[str, str]:
    """What leads the command line to the shared daemon; its image is `docker:IMAGE`."""
    return {"DOCKER_HOST": shared_daemon().address}


def sweep() -> None:
    """Remove every container of the shared daemon: an engine that is busy leaves ended ones lying."""
    with connect(open_engine(environment())) as client:
        for one in client.containers(all=True):
            with contextlib.suppress(docker.errors.APIError):  # it goes by itself meanwhile
                client.remove_container(one["Id"], force=True)


@functools.cache
def make_rig(identity: Identity, cache: Path, commands: tuple[str, ...]) -> ContainerRig:
    """What containers of the shared daemon are staged with, for trials of `identity`."""
    engine = open_engine(environment())
    shim, first = build(cache), build(cache, source=FIRST)
    derived = derive_image(engine, IMAGE, identity, first, shim, commands)
    targets = tuple(Mount(first.path, target) for target in derived.targets)
    return ContainerRig(engine, derived.id, first.path, targets, shim.form, pump=pump_build.build(cache).path)
