"""Whether an engine keeps the limits that it is asked for: tried from inside, since some ignore them silently."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from overeager.contract.effects import Identity, Limits, SandboxPlan
from overeager.run.container import ContainerRig, ContainerStage
from overeager.store.cache import Cache, publish
from overeager.store.room import close_room, open_room

_SMALL = Limits(seconds=60, file_bytes=1 << 20, memory_bytes=64 << 20, processes=24, processors=0.5)
"""Low enough that one probe reaches each of them."""
_PROBE = """\
dd if=/dev/zero of=/dev/null bs=200M count=1 2>/dev/null || echo memory
dd if=/dev/zero of=/tmp/large bs=64k count=64 2>/dev/null || echo files
rm -f /tmp/large
for file in /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us; do
  [ ! -r $file ] || read quota rest <$file
done
[ "$quota" != 50000 ] || echo processors
start_many() { i=0; while [ $i -lt 60 ]; do sleep 9 >/dev/null & i=$((i + 1)); done; echo all; }
[ "$(start_many 2>/dev/null)" = all ] || echo processes
"""
"""Prints each limit that holds: too much memory kills, a file and the processes end, the quota can be read."""
NAMES = ("memory", "files", "processors", "processes")
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/user", "LANG": "C"}


def find_ignored_limits(shelf: Cache, recipe: str, rig: ContainerRig, identity: Identity) -> tuple[str, ...]:
    """Those of NAMES that this engine does not keep; tried once for a recipe, the answer kept in the cache."""

    def play(path: Path) -> None:
        path.write_text("\n".join(try_limits(rig, identity)))

    return tuple(publish(shelf, "limits", recipe[:32], play).read_text().split())


def try_limits(rig: ContainerRig, identity: Identity) -> tuple[str, ...]:
    """Those of NAMES that are not kept: a container like every other, but with small limits, tries to pass them.

    Call it in the main thread of a process without other threads. Raises SBX… as a trial would.
    """
    room = open_room(None, identity)
    try:
        argv = ("/bin/sh", "-c", _PROBE)
        plan = SandboxPlan(room, identity, argv, _ENVIRONMENT, "/home/user", limits=_SMALL, shims=False, kernel=False)
        with tempfile.TemporaryDirectory() as records:
            held = _play(plan, rig, Path(records)).split()
        return tuple(name for name in NAMES if name not in held)
    finally:
        close_room(room)


def _play(plan: SandboxPlan, rig: ContainerRig, records: Path) -> str:
    with ContainerStage(plan, rig, records, time.monotonic()) as stage:
        started = stage.start()
        stage.go()
        with open(started.stdout, "rb") as stdout:
            said = stdout.read()
        stage.wait()
        os.close(started.stderr)
        return said.decode()
