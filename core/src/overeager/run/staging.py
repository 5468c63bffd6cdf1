"""The stage that fits a rig: where it is built from namespaces by ourselves, and where by a container engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from overeager.audit.auditor.process import Auditor
from overeager.contract.effects import Mount, Room, SandboxPlan
from overeager.run.container import ContainerRig, ContainerStage
from overeager.run.stage import Rig, Stage
from overeager.sandbox import bubblewrap, docker

AnyRig: TypeAlias = Rig | ContainerRig
AnyStage: TypeAlias = Stage | ContainerStage


def recipe_of(rig: AnyRig, hosts: tuple[str, ...]) -> str:
    """SHA-256 of what makes every sandbox of this kind alike."""
    if isinstance(rig, ContainerRig):
        return docker.recipe_digest(rig.image, hosts)
    return bubblewrap.recipe_digest(rig.bubblewrap, hosts)


def furnish_shared(rig: AnyRig, room: Room, hosts: tuple[str, ...], mounts: Sequence[Mount]) -> None:
    """Fill the read-only folders of a room that all trials of a run share."""
    if isinstance(rig, ContainerRig):
        docker.furnish(room, hosts)
    else:
        bubblewrap.furnish(room, hosts, rig.init, mounts)


def open_stage(
    plan: SandboxPlan,
    rig: AnyRig,
    records: Path,
    began: float,
    *,
    two_way: bool = False,
    auditor: Auditor | None = None,
) -> AnyStage:
    """A stage for one trial; nothing is started yet."""
    if isinstance(rig, ContainerRig):
        return ContainerStage(plan, rig, records, began, two_way=two_way, auditor=auditor)
    return Stage(plan, rig, records, began, two_way=two_way, auditor=auditor)
