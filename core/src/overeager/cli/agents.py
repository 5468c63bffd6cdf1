"""`overeager agents`: the pinned real CLIs, in their own prefix."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import print_json, print_table, say
from overeager.errors import OvereagerError

if TYPE_CHECKING:
    from overeager.contract.agent import AgentAdapter
    from overeager.store.install import Installed


def list_command(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Every agent that an installed plugin offers, and which of its versions is installed here."""
    from overeager.loading.registry import load_registry
    from overeager.run.tools import open_shelf
    from overeager.store.install import find_installed, host_platform

    rows = []
    shelf = open_shelf(os.environ)
    for agent_id, (adapter, origin) in load_registry(("overeager.agents",)).agents.items():
        if adapter.vendor is None:
            rows.append((agent_id, "-", "built in", "-", f"{origin.distribution} {origin.version}"))
            continue
        for version in sorted({release.version for release in adapter.vendor.releases}):
            installed = find_installed(adapter.vendor, version, host_platform(), shelf.root)
            tested = "tested" if version in adapter.tested_versions else "not tested"
            state = "installed" if installed else "not installed"
            rows.append((agent_id, version, state, tested, f"{origin.distribution} {origin.version}"))
    headings = ("agent", "version", "state", "with this adapter", "from")
    if as_json:
        print_json([dict(zip(headings, row, strict=True)) for row in rows])
        return
    print_table(headings, rows)


def install_command(
    agent: Annotated[str, typer.Argument(help="NAME or NAME@VERSION, for example claude-code@2.1.117.")],
) -> None:
    """Fetch a pinned CLI from the npm registry, check its hashes, and keep it in the cache."""
    from overeager.loading.registry import load_registry

    name, _, version = agent.partition("@")
    adapter = load_registry(("overeager.agents",), agents=(name,)).agent(name)
    if adapter.vendor is None:
        say(f"{name} is built in; there is nothing to install")
        return
    installed = install_agent(adapter, version or None)
    say(f"{name} {installed.release.version} is installed")


def install_agent(adapter: AgentAdapter, version: str | None) -> Installed:
    """The adapter's CLI, fetched when it is not here yet; announces what it fetches."""
    from overeager.run.tools import open_shelf
    from overeager.store.install import announce, find_installed, find_release, host_platform, install

    if adapter.vendor is None:
        raise OvereagerError("AGT010", f"the agent '{adapter.id}' has no CLI to install")
    cache, platform = open_shelf(os.environ).root, host_platform()
    found = find_installed(adapter.vendor, version, platform, cache)
    if found is not None:
        return found
    say(announce(adapter.vendor, find_release(adapter.vendor, version, platform)))
    return install(adapter.vendor, version, platform, cache, say)


def build_app() -> typer.Typer:
    """The group's commands."""
    app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    app.command("list")(list_command)
    app.command("install")(install_command)
    return app
