"""`overeager agents`: the pinned real CLIs, in their own prefix."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import print_json, print_table, say
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import OvereagerError

if TYPE_CHECKING:
    from overeager.contract.agent import AgentAdapter
    from overeager.loading.rows import PluginRow
    from overeager.store.install import Installed

_HEADINGS = ("agent", "version", "state", "with this adapter", "from")


def list_command(
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Every agent that an installed plugin offers, and which of its versions is installed here.

    Example: overeager agents list
    """
    from overeager.loading.discover import scan
    from overeager.loading.rows import plugin_rows

    found = [one for one in scan() if one.group == "overeager.agents"]
    rows = plugin_rows(True, **Plugins.read(only, block)._asdict(), found=found)
    lines = [line for row in rows for line in _lines(row)]
    if as_json:
        print_json([dict(zip(_HEADINGS, line, strict=True)) for line in lines])
        return
    print_table(_HEADINGS, lines)
    for row in rows:
        if row.faulty:
            say(f"{row.code} {row.name} of {row.distribution} {row.version} {row.reason}: {row.cure}")


def _lines(row: PluginRow) -> Iterator[tuple[str, ...]]:
    """A line a version; one for an agent without a CLI, or that cannot be used."""
    origin = f"{row.distribution} {row.version}"
    if row.status != "ok":
        yield row.name, "-", row.status, "-", origin
    elif not row.clis:
        yield row.name, "-", "built in" if row.clis is None else "none for this platform", "-", origin
    for cli in sorted(row.clis or ()):
        state = "installed" if cli.installed else "not installed"
        yield row.name, cli.version, state, "tested" if cli.tested else "not tested", origin


def install_command(
    agent: Annotated[str, typer.Argument(help="NAME or NAME@VERSION, for example claude-code@2.1.117.")],
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
) -> None:
    """Fetch a pinned CLI from the npm registry, check its hashes, and keep it in the cache."""
    from overeager.loading.registry import load_registry

    plugins = Plugins.read(only, block)
    name, _, version = agent.partition("@")
    adapter = load_registry(("overeager.agents",), agents=(name,), **plugins._asdict()).agent(name)
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
