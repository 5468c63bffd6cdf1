"""From a plan to a container: made, started with its first process waiting, removed by the engine when that ends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overeager import canonical
from overeager.contract.effects import Identity, Limits, Mount, Room, SandboxPlan
from overeager.errors import OvereagerError
from overeager.sandbox.bubblewrap import HOME, INIT, MEETING, MEETING_NAME
from overeager.sandbox.docker_engine import Engine, connect
from overeager.sandbox.docker_meeting import ADDRESS, ADDRESS_NAME
from overeager.sandbox.etc import HOSTNAME, etc_files
from overeager.sandbox.owner import mark_owner

RUN_LABEL = "overeager.run"
"""On every container, image and volume that is ours: which run it belongs to, or what it is for. Not seen inside."""

_ROOM_FILES = ("hosts", "hostname", "resolv.conf")
"""Of the room's /etc: the engine would otherwise write its own, with the host's name servers."""
_TMPFS = {"/run": f"rw,nosuid,nodev,size={16 << 20},mode=755"}
_SHARED_MEMORY = 256 << 20
_SYSCTLS = {"net.ipv4.ip_unprivileged_port_start": "0"}
_OUT_OF_MEMORY_SCORE = 500
"""Out of memory, the kernel is to end something inside and nothing of the host's."""


class Container(NamedTuple):
    """A container that has been made."""

    id: str
    engine: Engine


def create(plan: SandboxPlan, engine: Engine, image: str, extra: Sequence[Mount] = ()) -> Container:
    """Make the container of `plan` from the derived image `image`; nothing in it runs yet.

    The meeting sockets must lie in the room already. Raises SBX003 when the plan cannot be met, SBX022 when the engine
    refuses.
    """
    check(plan)
    with connect(engine) as client:
        made = client.create_container(
            image=image,
            entrypoint=[INIT],
            command=[],
            user=f"{plan.identity.uid}:{plan.identity.gid}",
            hostname=HOSTNAME,
            working_dir="/",
            labels={RUN_LABEL: plan.room.root.name, **mark_owner()},
            healthcheck={"test": ["NONE"]},
            host_config=client.create_host_config(**_host_config(plan, engine, extra)),
        )
    return Container(str(made["Id"]), engine)


def start(container: Container) -> None:
    """Let the first process run; it comes to the meeting."""
    with connect(container.engine) as client:
        client.start(container.id)


def remove(container: Container) -> None:
    """Kill and remove it, whatever state it is in; that it is gone already is what we want."""
    from docker.errors import APIError, NotFound

    with connect(container.engine) as client:
        try:
            client.remove_container(container.id, v=True, force=True)
        except NotFound:
            return
        except APIError as error:
            if error.status_code != 409:  # the engine is removing it
                raise


def read_logs(container: Container) -> str:
    """Why a container's first process never came, as far as the engine knows."""
    from docker.errors import NotFound

    with connect(container.engine) as client:
        try:
            state = client.inspect_container(container.id)["State"]
        except NotFound:
            return "its first process ended at once"
    return str(state.get("Error") or f"it is {state.get('Status')}, status {state.get('ExitCode')}")


def check(plan: SandboxPlan) -> None:
    """What the engine would take for an empty folder, said in our words."""
    for mount in plan.mounts:
        if not mount.source.exists():
            raise OvereagerError("SBX003", f"what is to be seen at {mount.target} does not exist", where=mount.source)
    folder = plan.room.home / plan.cwd.removeprefix(HOME).lstrip("/")
    if not plan.cwd.startswith(HOME) or not folder.is_dir():
        raise OvereagerError("SBX003", f"the workspace {plan.cwd} does not exist", where=folder)


def furnish(room: Room, hosts: tuple[str, ...]) -> None:
    """Fill the room's /etc as far as a container sees it."""
    texts = etc_files(hosts)
    for name in _ROOM_FILES:
        (room.etc / name).write_text(texts[name])
        (room.etc / name).chmod(0o644)


def mounts_of(plan: SandboxPlan) -> Iterator[Mount]:
    """All that is seen of the host, those above before those below."""
    room = plan.room
    yield from (Mount(room.etc / name, f"/etc/{name}") for name in _ROOM_FILES)
    yield Mount(room.tmp, "/tmp", writable=True)
    yield Mount(room.home, HOME, writable=True)
    yield Mount(room.run / ADDRESS_NAME, ADDRESS)
    if plan.shims:
        yield Mount(room.run / MEETING_NAME, MEETING)
    yield from plan.mounts


def _host_config(plan: SandboxPlan, engine: Engine, extra: Sequence[Mount]) -> dict[str, Any]:
    return {
        **_fence(engine),
        **bounds(plan.limits, engine),
        "mounts": [_bind(mount) for mount in (*mounts_of(plan), *extra)],
        "auto_remove": True,
    }


def _fence(engine: Engine) -> dict[str, Any]:
    """What no plan changes."""
    from docker.types import LogConfig

    fence: dict[str, Any] = {
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "cgroupns": "private",
        "tmpfs": dict(_TMPFS),
        "shm_size": _SHARED_MEMORY,
        "sysctls": dict(_SYSCTLS),
        "ipc_mode": "private",
        "oom_score_adj": _OUT_OF_MEMORY_SCORE,
        "log_config": LogConfig(type=LogConfig.types.NONE),
        "init": False,
    }
    if engine.remaps_users:
        fence["userns_mode"] = "host"
    return fence


def bounds(limits: Limits, engine: Engine) -> dict[str, Any]:
    """The limits in the engine's words; whether it keeps them is to be tried."""
    from docker.types import Ulimit

    return {
        "mem_limit": limits.memory_bytes,
        "memswap_limit": limits.memory_bytes,
        "pids_limit": limits.processes,
        "nano_cpus": int(min(limits.processors, engine.processors) * 10**9),
        "ulimits": [
            Ulimit(name="fsize", soft=limits.file_bytes, hard=limits.file_bytes),
            Ulimit(name="core", soft=0, hard=0),
        ],
    }


def _bind(mount: Mount) -> Any:
    from docker import types

    return types.Mount(target=mount.target, source=os.fspath(mount.source), type="bind", read_only=not mount.writable)


def recipe_digest(image_id: str, hosts: tuple[str, ...] = ()) -> str:
    """SHA-256 of what makes every container of this kind alike: the derived image, the fence, mounts, the own /etc."""
    room = Room(Path("/root"), Path("/home"), Path("/tmp"), Path("/etc"), Path("/local"), Path("/run"))
    plan = SandboxPlan(room, Identity(0, 0, drop=False), (), {}, HOME)
    engine = Engine("", "", "", "", 1, "", (), remaps_users=False)
    fence = {name: value for name, value in _fence(engine).items() if name != "log_config"}
    seen = [[mount.target, mount.writable] for mount in mounts_of(plan)]
    value: Mapping[str, object] = {"image": image_id, "fence": fence, "mounts": seen, "etc": dict(etc_files(hosts))}
    return canonical.digest(value)
