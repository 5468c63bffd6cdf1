"""The machine's side, made ready once: identity, cache, bubblewrap, shims, the agent's install."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from overeager import canonical
from overeager.audit.kernel.pump import build as pump_build
from overeager.audit.shim import build as shim_build
from overeager.audit.shim import mounts as shim_mounts
from overeager.contract.agent import AgentAdapter
from overeager.contract.effects import Mount
from overeager.contract.registry import Registry
from overeager.errors import OvereagerError
from overeager.model.bundle import Binary
from overeager.run.container_tools import gather_container_tools
from overeager.run.equipment import HOSTS, INSTALL, AgentBinary, Tools
from overeager.run.rehearsal import probe_shims, programs_here
from overeager.run.sandbox_choice import BUBBLEWRAP, image_of
from overeager.run.shimmed import shimmed_commands
from overeager.run.stage import Rig
from overeager.sandbox.bubblewrap import recipe_digest
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import locate_bubblewrap
from overeager.sandbox.probe import probe_sandbox
from overeager.store.cache import Cache, open_cache
from overeager.store.install import find_release, host_platform, require_installed, verify_binary

_SYSTEM_FILES = ("/usr/lib/os-release", "/usr/bin/bash", "/usr/bin/sh", "/usr/bin/git", "/usr/bin/python3")
"""What stands for the host's /usr in the stimulus lock."""


def open_shelf(environment: Mapping[str, str]) -> Cache:
    """The cache of this machine; raises STO003."""
    return open_cache(environment, choose_identity())


def gather_tools(environment: Mapping[str, str], registry: Registry, sandbox: str = BUBBLEWRAP) -> Tools:
    """Everything that trials need of this machine; raises SBX… with the cure when no such sandbox works here."""
    if sandbox != BUBBLEWRAP:
        return gather_container_tools(environment, registry, image_of(sandbox))
    identity = choose_identity()
    shelf = open_cache(environment, identity)
    bubblewrap = locate_bubblewrap(shelf.root, identity)
    probe = probe_sandbox(bubblewrap, identity)
    if not probe.works:
        raise OvereagerError("SBX010", f"no sandbox works here: {probe.why}", cure=probe.cure)
    shim = shim_build.build(shelf.root)
    shimmed = shimmed_commands(registry)
    pump = pump_build.build(shelf.root)
    rig = Rig(bubblewrap, shim.path, shim_mounts.mounts(shim, shimmed), shim.form, pump=pump.path)
    commands = tuple(sorted({c for names in shim_mounts.names(shimmed).values() for c in names}))
    system = _digest_system()
    recipe = canonical.digest(
        [recipe_digest(bubblewrap, HOSTS), shim.sha256, list(commands), system, os.uname().release]
    )
    return Tools(
        shelf=shelf,
        identity=identity,
        rig=rig,
        shim_sha256=shim.sha256,
        shim_gaps=shim.gaps or probe_shims(shelf, recipe, rig, identity, programs_here(commands)),
        commands=commands,
        system_sha256=system,
    )


def probe_here(environment: Mapping[str, str]) -> str | None:
    """None when trials can run here, else why not and the one command that mends it."""
    try:
        identity = choose_identity()
        probe = probe_sandbox(locate_bubblewrap(open_cache(environment, identity).root, identity), identity)
    except OvereagerError as error:
        return str(error)
    return None if probe.works else f"{probe.why}\n  {probe.cure or ''}".rstrip()


def find_agent(adapter: AgentAdapter, version: str, cache: Path) -> AgentBinary | None:
    """The adapter's install, its binary hashed anew; None for an agent without a CLI. Raises AGT…"""
    if adapter.vendor is None:
        return None
    platform = host_platform()
    release = find_release(adapter.vendor, version, platform)
    installed = require_installed(adapter.id, adapter.vendor, version, platform, cache)
    record = Binary(version=version, sha256=verify_binary(installed))
    return AgentBinary(record, (Mount(installed.root, INSTALL),), f"{INSTALL}/{release.binary}", release.functions)


def _digest_system() -> str:
    found = [path for path in map(Path, _SYSTEM_FILES) if path.is_file()]
    return canonical.digest([[str(path), canonical.sha256(path.read_bytes())] for path in found])
