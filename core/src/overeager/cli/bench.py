"""`overeager bench`: build, show, lint, relock."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.invocation import program
from overeager.cli.output import print_json, print_table, say
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import ErrorGroup, OvereagerError, near_miss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overeager.contract.evidence import AtomDeclaration
    from overeager.contract.registry import Registry
    from overeager.model.scenario import Scenario
    from overeager.store.bench import Bench

READERS = ("overeager.agents", "overeager.shims", "overeager.atoms")


def build_command(
    directory: Annotated[Path, typer.Argument(help="Where the bench is written, for example benches/demo.")],
    seeds: Annotated[
        list[str] | None,
        typer.Option("--seed-scenario", help="Ids of seed scenarios; default: all that are installed."),
    ] = None,
    title: Annotated[
        str, typer.Option(help="One sentence about the bench.")
    ] = "Seed scenarios at neutral axis levels.",
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
) -> None:
    """Build a bench from installed seed scenarios. Example: overeager bench build benches/mine"""
    from overeager.loading.locks import judge_lock
    from overeager.loading.registry import load_registry
    from overeager.store.archetypes import package_folder, read_archetypes
    from overeager.store.bench import build_bench, scenarios_from_seeds

    registry = load_registry((*READERS, "overeager.archetypes"), **Plugins.read(only, block)._asdict())
    _check_archetypes(registry)
    folders = [package_folder(package.package) for package, _ in registry.archetypes.values()]
    chosen = _choose(read_archetypes(folders, _atoms(registry)).seeds, seeds or [])
    lock = judge_lock(registry, scenarios_from_seeds(chosen))
    bench = build_bench(directory.name, title, chosen, lock, directory)
    run = shlex.join([*program(), "run", str(directory), "--agent", "scripted"])
    say(f"{directory}: {len(bench.scenarios)} scenarios; next: {run}")


def _check_archetypes(registry: Registry) -> None:
    """Raise PLG009 where no plugin offers seed scenarios: not installed, or installed and kept out."""
    if registry.archetypes:
        return
    kept_out = [label for label in registry.chosen.left_out if label.startswith("archetypes:")]
    if kept_out:
        what, cure = f"every plugin with archetypes was kept out: {', '.join(kept_out)}", "allow one of them"
    else:
        what, cure = "no installed plugin offers archetypes", "pip install overeager-archetypes, or write your own"
    raise OvereagerError("PLG009", what, cure=cure)


def _choose(seeds: Sequence[tuple[str, Scenario]], wanted: list[str]) -> list[tuple[str, Scenario]]:
    known = [scenario.id for _, scenario in seeds]
    for name in wanted:
        if name not in known:
            raise OvereagerError(
                "BEN013",
                f"no installed archetype has the seed scenario '{name}'",
                cure=near_miss(name, known) or f"there are: {', '.join(known)}",
            )
    return [(source, scenario) for source, scenario in seeds if not wanted or scenario.id in wanted]


def show_command(
    directory: Annotated[Path, typer.Argument(help="A bench.")],
    as_json: Annotated[bool, typer.Option("--json", help="The manifest as JSON.")] = False,
) -> None:
    """What a bench holds. Example: overeager bench show benches/demo"""
    bench = _load(directory)
    if as_json:
        print_json(bench.manifest)
        return
    rows = [
        (s.id, s.archetype, s.title, ", ".join(f"{trap.id} ({trap.severity})" for trap in s.traps))
        for s in bench.scenarios
    ]
    print_table(("scenario", "archetype", "asked", "traps"), rows, bench.manifest.title)


def lint_command(
    directory: Annotated[Path, typer.Argument(help="A bench.")],
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
) -> None:
    """Check files, hashes, conditions and the judge lock; exit 1 when the lock is stale."""
    from overeager.loading.locks import difference, judge_lock

    bench = _load(directory)
    registry = _registry(Plugins.read(only, block))
    check_bench(bench, directory, registry)
    stale = difference(bench.manifest.judge, judge_lock(registry, bench.scenarios))
    for line in stale:
        say(f"{directory}: {line}")
    if stale:
        say("  `overeager bench relock` renews the lock")
        raise typer.Exit(1)
    say(f"{directory}: {len(bench.scenarios)} scenarios, hashes, conditions and judge lock hold")


def relock_command(
    directory: Annotated[Path, typer.Argument(help="A bench.")],
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
) -> None:
    """Check a bench again and renew its judge lock without touching its scenarios."""
    from overeager.loading.locks import difference, judge_lock
    from overeager.store.bench import relock

    bench = _load(directory)
    registry = _registry(Plugins.read(only, block))
    check_bench(bench, directory, registry)
    new = judge_lock(registry, bench.scenarios)
    for line in difference(bench.manifest.judge, new):
        say(f"{directory}: {line}")
    relock(directory, new)
    say(f"{directory}: judge lock {new.digest()[:16]}")


def _load(directory: Path) -> Bench:
    from overeager.store.bench import load_bench

    return load_bench(directory)


def _registry(plugins: Plugins) -> Registry:
    from overeager.loading.registry import load_registry

    return load_registry(READERS, **plugins._asdict())


def _atoms(registry: Registry) -> dict[str, AtomDeclaration]:
    return {name: declaration for name, (declaration, _) in registry.atoms.items()}


def check_bench(bench: Bench, directory: Path, registry: Registry) -> None:
    """Raise an ErrorGroup of SCN110 to SCN114, with file and line, for conditions that `registry` cannot evaluate."""
    errors: list[OvereagerError] = []
    for scenario in bench.scenarios:
        errors += _condition_errors(scenario, directory / "scenarios" / f"{scenario.id}.yaml", _atoms(registry))
    if errors:
        raise ErrorGroup(errors)


def check_plugins(bench: Bench, directory: Path, registry: Registry) -> None:
    """Raise an ErrorGroup of PLG011 for plugins with atoms or shims that the bench was built with and `registry` lacks:
    without a shim set the channel would be blind to its commands, and nobody would be told."""
    lacking = [
        (kind, name)
        for kind, named, tables in (
            ("atoms", bench.manifest.judge.atoms, (registry.atoms,)),
            ("shims", bench.manifest.judge.shims, (registry.shims, registry.stand_ins)),
        )
        for name in sorted({*named} - {origin.plugin for table in tables for _, origin in table.values()})
    ]
    if lacking:
        raise ErrorGroup(_lacking(kind, name, directory, registry) for kind, name in lacking)


def _lacking(kind: str, name: str, directory: Path, registry: Registry) -> OvereagerError:
    what = f"the bench was built with the plugin '{name}' ({kind}), which is not installed"
    cure = "install the distribution that brings it"
    kept_out = [label for label in registry.chosen.left_out if label.startswith(f"{kind}:{name} of ")]
    if kept_out:
        what = f"the bench was built with the plugin '{name}' ({kind}), which is kept out: {kept_out[0]}"
        cure = "allow it"
    relock = shlex.join([*program(), "bench", "relock", str(directory)])
    return OvereagerError("PLG011", what, where=directory, cure=f"{cure}; or `{relock}` to go without it")


def _condition_errors(scenario: Scenario, path: Path, atoms: dict[str, AtomDeclaration]) -> tuple[OvereagerError, ...]:
    """What is wrong; the file is read for its line numbers only then."""
    from overeager.model.yaml_source import read_yaml
    from overeager.store.conditions import check_conditions

    try:
        check_conditions(scenario, atoms, str(path))
    except ErrorGroup:
        try:
            check_conditions(scenario, atoms, str(path), read_yaml(path.read_bytes(), str(path)).lines)
        except ErrorGroup as group:
            return group.errors
    return ()


def build_app() -> typer.Typer:
    """The group's commands."""
    app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    app.command("build")(build_command)
    app.command("show")(show_command)
    app.command("lint")(lint_command)
    app.command("relock")(relock_command)
    return app
