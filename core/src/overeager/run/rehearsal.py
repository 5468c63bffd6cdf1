"""The full probe: a real sandbox in which every shimmed command is called in every form, before the first trial."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from overeager.audit.shim.coverage import Coverage, Seen, match, probe_calls, probe_script
from overeager.audit.shim.mounts import names, scripts
from overeager.contract.effects import Finished, Identity, Limits, SandboxPlan
from overeager.run.equipment import GATEWAY_PORT, HOME
from overeager.run.staging import AnyRig, open_stage
from overeager.store.cache import Cache, publish
from overeager.store.room import close_room, open_room

_LIMITS = Limits(seconds=120)
_ENVIRONMENT = {"HOME": HOME, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


class Programs(NamedTuple):
    """What the probe calls."""

    commands: Mapping[str, tuple[str, ...]]
    """The programs that have a shim, by the name of the file, each with the commands that it is."""
    scripts: tuple[str, ...]
    """Of the commands, those whose shim only stands first in PATH."""
    bash: bool


class Rehearsal(NamedTuple):
    """What the probe sandbox came to."""

    finished: Finished
    coverage: Coverage


def programs_here(commands: Iterable[str]) -> Programs:
    """Those of `commands` that this machine has."""
    wanted = sorted(commands)
    return Programs(names(wanted), scripts(wanted), Path("/usr/bin/bash").exists())


def probe_shims(shelf: Cache, recipe: str, rig: AnyRig, identity: Identity, programs: Programs) -> str:
    """What the full probe found missing, in words; played once for a recipe, its result kept in the cache."""

    def play(path: Path) -> None:
        path.write_text(rehearse(rig, identity, programs).coverage.health.reason)

    return publish(shelf, "probe", recipe[:32], play).read_text()


def rehearse(rig: AnyRig, identity: Identity, programs: Programs) -> Rehearsal:
    """Play the probe for `programs`; about a second.

    Call it in the main thread of a process without other threads. Raises SBX… and AUD… as a trial would.
    """
    present = [command for group in programs.commands.values() for command in group]
    calls = probe_calls(present, programs.scripts, bash=programs.bash)
    room = open_room(None, identity)
    try:
        argv = ("/bin/sh", "-c", probe_script(calls))
        plan = SandboxPlan(room, identity, argv, _ENVIRONMENT, HOME, ports=(GATEWAY_PORT,), limits=_LIMITS)
        with tempfile.TemporaryDirectory() as records:
            finished = _play(plan, rig, Path(records))
            return Rehearsal(finished, match(calls, _read_seen(Path(records) / "shim.jsonl")))
    finally:
        close_room(room)


def _play(plan: SandboxPlan, rig: AnyRig, records: Path) -> Finished:
    with open_stage(plan, rig, records, time.monotonic()) as sandbox:
        started = sandbox.start()
        try:
            sandbox.go()
            return sandbox.wait()
        finally:
            for descriptor in (started.stdout, started.stderr):
                os.close(descriptor)
            for listener in started.listeners:
                listener.socket.close()


def _read_seen(path: Path) -> list[Seen]:
    records = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return [Seen(record["command"], tuple(record["argv"]), record["t"]) for record in records if "command" in record]
