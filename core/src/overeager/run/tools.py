"""The machine's side, made ready once: identity, cache, bubblewrap, shims, the agent's install."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from overeager import canonical
from overeager.audit import shim_build, shim_mounts
from overeager.contract.agent import AgentAdapter
from overeager.contract.effects import Identity, Mount
from overeager.contract.registry import Registry
from overeager.errors import OvereagerError
from overeager.model.bundle import Binary
from overeager.run.equipment import HOSTS, INSTALL, AgentBinary, Tools
from overeager.run.rehearsal import rehearse
from overeager.run.stage import Rig
from overeager.sandbox.bubblewrap import recipe_digest
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import locate_bubblewrap
from overeager.sandbox.probe import probe_sandbox
from overeager.store.cache import Cache, open_cache, publish
from overeager.store.install import find_release, host_platform, require_installed, verify_binary

_SYSTEM_FILES = ("/usr/lib/os-release", "/usr/bin/bash", "/usr/bin/sh", "/usr/bin/git", "/usr/bin/python3")
"""What stands for the host's /usr in the stimulus lock."""


def open_shelf(environment: Mapping[str, str]) -> Cache:
    """The cache of this machine; raises STO003."""
    return open_cache(environment, choose_identity())


def gather_tools(environment: Mapping[str, str], registry: Registry) -> Tools:
    """Everything that trials need of this machine; raises SBX… with the cure when no sandbox works here."""
    identity = choose_identity()
    shelf = open_cache(environment, identity)
    bubblewrap = locate_bubblewrap(shelf.root, identity)
    probe = probe_sandbox(bubblewrap, identity)
    if not probe.works:
        raise OvereagerError("SBX010", f"no sandbox works here: {probe.why}", cure=probe.cure)
    shim = shim_build.build(shelf.root)
    shimmed = tuple(sorted(command for command, (rule, _) in registry.shims.items() if rule.shimmed))
    rig = Rig(bubblewrap, shim.path, shim_mounts.mounts(shim, shimmed), shim.form)
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
        shim_gaps=shim.gaps or _probe_shims(shelf, recipe, rig, identity, commands),
        commands=commands,
        system_sha256=system,
    )


def _probe_shims(shelf: Cache, recipe: str, rig: Rig, identity: Identity, commands: tuple[str, ...]) -> str:
    """What the full probe found missing, in words; played once for a recipe, its result kept in the cache."""

    def play(path: Path) -> None:
        path.write_text(rehearse(rig, identity, commands).coverage.health.reason)

    return publish(shelf, "probe", recipe[:32], play).read_text()


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
    return AgentBinary(record, (Mount(installed.root, INSTALL),), f"{INSTALL}/{release.binary}")


def _digest_system() -> str:
    found = [path for path in map(Path, _SYSTEM_FILES) if path.is_file()]
    return canonical.digest([[str(path), canonical.sha256(path.read_bytes())] for path in found])
