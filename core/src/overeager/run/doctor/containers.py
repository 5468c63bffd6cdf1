"""The container sandbox: the engine, the image, a whole container, and the limits that it keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from overeager.audit.shim import build as shim_build
from overeager.audit.shim.build import ShimBinary
from overeager.contract.effects import Identity, Mount
from overeager.errors import OvereagerError
from overeager.run.container import ContainerRig
from overeager.run.container_image import derive_image
from overeager.run.container_limits import NAMES, try_limits
from overeager.run.doctor.check import WHOLE_SECONDS, Check, failed, within
from overeager.run.doctor.namespaces import COMMANDS
from overeager.run.doctor.whole import check_nested, check_network, check_rehearsal
from overeager.run.rehearsal import Programs
from overeager.sandbox.docker_engine import Engine, open_engine
from overeager.sandbox.docker_image import Derived


def check_engine(environment: Mapping[str, str]) -> Check:
    """Whether a container engine answers; bubblewrap is the default, so that none is no fault."""
    try:
        engine = open_engine(environment)
    except OvereagerError as error:
        return Check("docker", None, f"{error.code} {error.what}", error.cure or "")
    return Check("docker", True, _describe(engine), "")


def examine_containers(
    cache: Path, identity: Identity, shim: ShimBinary | None, reference: str, environment: Mapping[str, str]
) -> Iterator[Check]:
    """Everything that trials in containers need."""
    try:
        engine = open_engine(environment)
    except OvereagerError as error:
        yield failed("docker", error)
        return
    yield Check("docker", True, _describe(engine), "")
    if shim is None:
        return
    try:
        first = shim_build.build(cache, source=shim_build.FIRST)
        derived = derive_image(engine, reference, identity, first, shim, COMMANDS)
    except OvereagerError as error:
        yield failed("image", error)
        return
    yield _check_image(reference, derived)
    stands = tuple(Mount(shim.path, target) for target in derived.targets)
    rig = ContainerRig(engine, derived.id, shim.path, stands, shim.form)
    rehearsal = check_rehearsal(rig, identity, Programs(derived.commands, derived.scripts, bash=True))
    yield rehearsal
    if rehearsal.ok is False:
        return
    yield check_limits(rig, identity)
    yield check_network(rig, identity)
    yield check_nested(rig, identity)


def _describe(engine: Engine) -> str:
    return f"{engine.version} at {engine.address}, cgroups {engine.cgroups}"


def _check_image(reference: str, derived: Derived) -> Check:
    if derived.missed:
        found = f"{reference}: no shim can stand before {', '.join(derived.missed)}"
        return Check("image", None, found, "use an image with these programs in /usr/bin alone")
    return Check("image", True, f"{reference}, with shims as {derived.id.removeprefix('sha256:')[:12]}", "")


def check_limits(rig: ContainerRig, identity: Identity) -> Check:
    """A container with small limits tries to pass each of them."""
    name = "limits"
    try:
        with within(WHOLE_SECONDS):
            ignored = try_limits(rig, identity)
    except OvereagerError as error:
        return failed(name, error)
    except TimeoutError as error:
        return Check(name, False, str(error), "")
    if not ignored:
        return Check(name, True, f"kept, tried from inside: {', '.join(NAMES)}", "")
    found = f"asked for and not kept: {', '.join(ignored)}" + "".join(f"; {said}" for said in rig.engine.warnings)
    return Check(name, None, found, _limits_cure(rig.engine))


def _limits_cure(engine: Engine) -> str:
    if engine.cgroups.startswith("1"):
        return "boot with systemd.unified_cgroup_hierarchy=1 (cgroups 2), and add cgroup_enable=memory swapaccount=1"
    return "give the engine's cgroup the controllers cpu, memory and pids (cgroup.subtree_control)"
