"""Which versions of an adapter's CLI lie in this machine's cache; nothing is executed, made or fetched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from overeager.contract.agent import AgentAdapter
from overeager.store.install import find_installed, host_platform


class Cli(NamedTuple):
    """One pinned version of a CLI, on this platform."""

    version: str
    installed: bool
    tested: bool
    """Whether the adapter names it as one that it was tested with."""


def find_clis(adapter: AgentAdapter, cache: Path) -> tuple[Cli, ...]:
    """Every version that the adapter pins for this platform; none for an agent without a CLI."""
    if adapter.vendor is None:
        return ()
    platform = host_platform()
    versions = dict.fromkeys(one.version for one in adapter.vendor.releases if one.platform == platform)
    return tuple(
        Cli(
            version,
            installed=find_installed(adapter.vendor, version, platform, cache) is not None,
            tested=version in adapter.tested_versions,
        )
        for version in versions
    )


def describe_clis(clis: Iterable[Cli], agent: str) -> str:
    """The installed ones, and whether each was tested; where there is none, the command that installs it."""
    clis = tuple(clis)
    if not clis:
        return "none for this platform"
    here = [f"{one.version} installed, {'tested' if one.tested else 'not tested'}" for one in clis if one.installed]
    return "; ".join(here) or f"not installed: overeager agents install {agent}"
