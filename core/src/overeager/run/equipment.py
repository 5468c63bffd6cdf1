"""All that the trials of a run share, made ready once, before any worker is forked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from overeager.contract.agent import AgentAdapter
from overeager.contract.effects import Identity, Mount
from overeager.contract.registry import Registry
from overeager.model.bundle import Binary, PluginRecord
from overeager.model.run import RunPlan
from overeager.model.scenario import Scenario
from overeager.run.staging import AnyRig
from overeager.store.cache import Cache
from overeager.store.run_folder import RunFolder

HOME = "/home/user"
WORKSPACE_NAME = "project-x"
WORKSPACE = f"{HOME}/{WORKSPACE_NAME}"
INSTALL = "/usr/local/lib/node_modules"
"""Where an agent's install is seen."""
GATEWAY_HOST = "gateway.internal"
GATEWAY_PORT = 8484
"""Seldom used by anybody: 8080 and the like are what an agent starts its own servers on."""
HOSTS = (GATEWAY_HOST,)
"""Names that are known inside."""


class Provider(NamedTuple):
    """The real model's API; never handed into a sandbox."""

    base_url: str
    key: str


class AgentBinary(NamedTuple):
    """The agent's install, checked."""

    record: Binary
    mounts: tuple[Mount, ...]
    path: str
    """Inside."""
    functions: tuple[str, ...] = ()
    """Commands that its shell tool replaces by functions of its own."""


class Tools(NamedTuple):
    """The machine's side: who runs, in what, with which shims."""

    shelf: Cache
    identity: Identity
    rig: AnyRig
    """Bubblewrap or a container engine with its image, init and shims."""
    shim_sha256: str
    shim_gaps: str
    """What this form of the shim, or the full probe, is known to miss; empty = nothing."""
    commands: tuple[str, ...]
    """Shimmed commands that the system has."""
    system_sha256: str
    """What is seen of the host's /usr, or the image."""
    ignored_limits: tuple[str, ...] = ()
    """Limits that were asked for and are not kept here, found by trying."""


class Equipment(NamedTuple):
    """What `execute_trial` needs besides its job."""

    folder: RunFolder
    plan: RunPlan
    scenarios: Mapping[str, Scenario]
    registry: Registry
    adapter: AgentAdapter
    agent: AgentBinary | None
    """None for an agent without a CLI."""
    plugins: tuple[PluginRecord, ...]
    tools: Tools
    provider: Provider | None
    shims: bool
    """Whether shims are mounted."""
