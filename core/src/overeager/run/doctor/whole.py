"""Whole sandboxes, of either kind: what is called in one must be recorded, what is served to one must be reached."""

from __future__ import annotations

import os
import select
import shutil
import tempfile
import time
from pathlib import Path

from overeager.contract.effects import Identity, Limits, SandboxPlan, Started
from overeager.errors import OvereagerError
from overeager.run.doctor.check import WHOLE_SECONDS, Check, failed, within
from overeager.run.equipment import GATEWAY_PORT, HOME
from overeager.run.rehearsal import Programs, rehearse
from overeager.run.staging import AnyRig, open_stage
from overeager.store.room import close_room, open_room

_ENVIRONMENT = {"HOME": HOME, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
_CALL = f"exec 3<>/dev/tcp/127.0.0.1/{GATEWAY_PORT}; echo reached >&3; ! : 3<>/dev/tcp/192.0.2.1/80"
"""192.0.2.1 is nobody's, and no way may lead there."""
_WITHIN = "exec unshare --user --map-root-user --mount --pid --fork /bin/true"


def check_rehearsal(rig: AnyRig, identity: Identity, programs: Programs) -> Check:
    """A sandbox with auditor, listener and shims is played, and every call in it must leave its record."""
    name = "rehearsal"
    try:
        with within(WHOLE_SECONDS):
            played = rehearse(rig, identity, programs)
    except OvereagerError as error:
        return failed(name, error)
    except TimeoutError as error:
        return Check(name, False, str(error), "")
    if played.finished.exit_status != 0 or played.finished.auditor_lost:
        return Check(name, False, f"the sandbox ended badly: {played.finished.detail}", "")
    kernel, health = played.finished.kernel, played.coverage.health
    if health.state != "present":
        return Check(name, False, health.reason, "")
    if kernel.state != "present":
        return Check(name, None, f"the kernel channel is {kernel.state}: {kernel.reason}", "see the checks above")
    return Check(name, True, "every call of every command left its record, in both channels", "")


def check_network(rig: AnyRig, identity: Identity) -> Check:
    """From inside the listener that the host opened there is reached, and nothing else is."""
    name = "network"
    try:
        status, heard = _play(rig, identity, ("/bin/bash", "-c", _CALL), listen=True)
    except (OvereagerError, TimeoutError) as error:
        return failed(name, error) if isinstance(error, OvereagerError) else Check(name, False, str(error), "")
    if heard != b"reached\n":
        return Check(name, False, "the listener inside was not reached", "is there a bash in the sandbox?")
    if status != 0:
        return Check(name, False, "a way leads out of the sandbox", "")
    return Check(name, True, "the host's listener is reached from inside, and nothing else", "")


def check_nested(rig: AnyRig, identity: Identity) -> Check:
    """Whether an agent's own sandbox can start inside ours."""
    name = "an agent's own sandbox"
    if shutil.which("unshare") is None:
        return Check(name, None, "not tried: no `unshare` here", "")
    try:
        status, _ = _play(rig, identity, ("/bin/sh", "-c", _WITHIN), listen=False)
    except (OvereagerError, TimeoutError) as error:
        return failed(name, error) if isinstance(error, OvereagerError) else Check(name, False, str(error), "")
    if status == 0:
        return Check(name, True, "starts inside", "")
    return Check(name, None, "does not start inside: agents run without theirs", "use --sandbox bubblewrap for those")


def _play(rig: AnyRig, identity: Identity, argv: tuple[str, ...], listen: bool) -> tuple[int | None, bytes]:
    """The exit status, and what was said to the listener; raises TimeoutError when there is no end."""
    room = open_room(None, identity)
    try:
        ports = (GATEWAY_PORT,) if listen else ()
        plan = SandboxPlan(room, identity, argv, _ENVIRONMENT, HOME, ports=ports, limits=Limits(seconds=60))
        with (
            within(WHOLE_SECONDS),
            tempfile.TemporaryDirectory() as records,
            open_stage(plan, rig, Path(records), time.monotonic()) as stage,
        ):
            started = stage.start()
            stage.go()
            heard = _serve_once(started) if listen else b""
            status = stage.wait().exit_status
            for descriptor in (started.stdout, started.stderr):
                os.close(descriptor)
            return status, heard
    finally:
        close_room(room)


def _serve_once(started: Started) -> bytes:
    """What the first caller says; empty when nobody calls before the agent ends."""
    listener = started.listeners[0].socket
    with listener:
        # The agent's output says the end of file when it has ended.
        while True:
            ready = select.select([listener.fileno(), started.stdout], [], [])[0]
            if listener.fileno() in ready:
                connection, _ = listener.accept()
                with connection:
                    return connection.makefile("rb").readline()
            if not os.read(started.stdout, 4096):
                return b""
