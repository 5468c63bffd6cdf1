"""The machine's side of container trials, made ready once: the engine, the image with its shims, what limits hold."""

from __future__ import annotations

from collections.abc import Mapping

from overeager import canonical
from overeager.audit.kernel.pump import build as pump_build
from overeager.audit.shim import build as shim_build
from overeager.contract.effects import Mount
from overeager.contract.registry import Registry
from overeager.run.container import ContainerRig
from overeager.run.container_image import derive_image
from overeager.run.container_limits import find_ignored_limits
from overeager.run.equipment import HOSTS, Tools
from overeager.run.rehearsal import Programs, probe_shims
from overeager.run.shimmed import shimmed_commands
from overeager.sandbox.docker import recipe_digest
from overeager.sandbox.docker_engine import open_engine
from overeager.sandbox.docker_image import Derived
from overeager.sandbox.identity import choose_identity
from overeager.store.cache import open_cache
from overeager.store.leftovers import hold


def gather_container_tools(environment: Mapping[str, str], registry: Registry, reference: str) -> Tools:
    """Everything that trials in containers of the image `reference` need; raises SBX… with the cure.

    The image is derived, every shim called in every form, and every limit tried, unless that has been done before.
    """
    identity = choose_identity()
    shelf = open_cache(environment, identity)
    engine = open_engine(environment)
    shim, first = shim_build.build(shelf.root), shim_build.build(shelf.root, source=shim_build.FIRST)
    hold(shelf, engine.id)
    derived = derive_image(engine, reference, identity, first, shim, shimmed_commands(registry))
    stands = tuple(Mount(shim.path, target) for target in derived.targets)
    pump = pump_build.build(shelf.root)
    rig = ContainerRig(engine, derived.id, shim.path, stands, shim.form, pump=pump.path)
    commands = tuple(sorted({command for names in derived.commands.values() for command in names}))
    recipe = canonical.digest([recipe_digest(derived.id, HOSTS), engine.id, engine.version, engine.cgroups])
    return Tools(
        shelf=shelf,
        identity=identity,
        rig=rig,
        shim_sha256=shim.sha256,
        shim_gaps=shim.gaps or _missed(derived) or probe_shims(shelf, recipe, rig, identity, _programs(derived)),
        commands=commands,
        system_sha256=canonical.digest(derived.id),
        ignored_limits=find_ignored_limits(shelf, recipe, rig, identity),
    )


def _programs(derived: Derived) -> Programs:
    return Programs(derived.commands, derived.scripts, bash=True)


def _missed(derived: Derived) -> str:
    """Programs of the image that no shim can stand before, in words."""
    return f"without a shim in this image: {', '.join(derived.missed)}" if derived.missed else ""
