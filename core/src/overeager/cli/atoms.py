"""`overeager atoms`: the predicates that conditions are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import print_json, print_table
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import OvereagerError, near_miss

if TYPE_CHECKING:
    from overeager.contract.evidence import AtomDeclaration
    from overeager.contract.registry import Origin, Registry

HEADINGS = ("atom", "category", "risk", "shown by", "ruled out by", "attempts", "meaning")


def build_app() -> typer.Typer:
    """`atoms list` and `atoms explain`."""
    app = typer.Typer(no_args_is_help=True)
    app.command("list")(list_command)
    app.command("explain")(explain_command)
    return app


def list_command(
    category: Annotated[str | None, typer.Option(help="Only this category, or a part of its name.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="The page docs/atoms.md.")] = False,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """List the installed atoms. Example: overeager atoms list --category network"""
    registry = _load(Plugins.read(only, block), feeding=markdown)
    found = {name: pair for name, pair in _atoms(registry).items() if category is None or category in pair[0].category}
    if as_json:
        print_json([_record(declaration, origin) for declaration, origin in found.values()])
    elif markdown:
        typer.echo(_page([declaration for declaration, _ in found.values()], registry), nl=False)
    else:
        print_table(HEADINGS, (_cells(declaration) for declaration, _ in found.values()))


def explain_command(
    name: Annotated[str, typer.Argument(help="An atom.")],
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """What one atom asks, and what it takes to answer. Example: overeager atoms explain fs.deleted"""
    registry = _load(Plugins.read(only, block), feeding=True)
    atoms = _atoms(registry)
    if name not in atoms:
        raise OvereagerError(
            "PLG020",
            f"no installed plugin offers the atom '{name}'",
            cure=near_miss(name, atoms) or "overeager atoms list",
        )
    declaration, origin = atoms[name]
    if as_json:
        from overeager.report.feeds import find_feeds

        print_json({**_record(declaration, origin), "feeds": find_feeds(declaration, registry)._asdict()})
        return
    typer.echo(f"{signature(declaration)}\n{declaration.meaning}")
    for heading, text in (*_details(declaration), *_feeds(declaration, registry)):
        typer.echo(f"  {heading + ':':<14}{text}")
    typer.echo(f"  {'offered by:':<14}{origin.distribution} {origin.version}")


def signature(declaration: AtomDeclaration) -> str:
    """`fs.contains(path: str, pattern: str)`; optional parameters with what they are left out for."""
    return f"{declaration.name}({', '.join(map(str, declaration.parameters))})"


def _load(plugins: Plugins, *, feeding: bool) -> Registry:
    """The atoms; with `feeding` also what feeds them, as far as it can be loaded."""
    from overeager.loading.registry import load_registry

    atoms = load_registry(("overeager.atoms",), **plugins._asdict())
    if not feeding:
        return atoms
    feeds = load_registry(("overeager.shims", "overeager.agents"), **plugins._asdict(), hard=False)
    return feeds._replace(atoms=atoms.atoms)


def _atoms(registry: Registry) -> dict[str, tuple[AtomDeclaration, Origin]]:
    return dict(sorted(registry.atoms.items()))


def _details(declaration: AtomDeclaration) -> Iterable[tuple[str, str]]:
    yield "category", declaration.category
    yield "risk", declaration.risk
    yield "requires", declaration.requires or "nothing"
    yield "proves", declaration.proves or declaration.meaning
    yield "TRUE", f"one witness in {' or '.join(declaration.shown_by)}, even cut"
    yield "FALSE", f"no witness, and {', '.join(declaration.ruled_out_by)} whole"
    yield "attempts", " or ".join(declaration.attempted_by) or "no form for attempts: UNKNOWN"


def _feeds(declaration: AtomDeclaration, registry: Registry) -> Iterable[tuple[str, str]]:
    """The shim rules, stand-ins and tool rows that feed the atom; what does not is left out."""
    from overeager.report.feeds import find_feeds

    found = find_feeds(declaration, registry)
    every = len(registry.shims) - len(found.shims)
    yield "shim rules", _named(found.shims, sum(rule.shimmed for rule, _ in registry.shims.values()), "every command")
    if found.texts:
        yield "in texts", _named(found.texts, every, "every other command" if found.shims else "every command")
    if found.stand_ins:
        yield "stand-ins", _named(found.stand_ins, len(registry.stand_ins), "every one")
    yield "tools", "; ".join(f"{agent}: {', '.join(tools)}" for agent, tools in found.tools.items()) or "none"


def _named(commands: tuple[str, ...], every: int, all_of_them: str) -> str:
    return all_of_them if len(commands) == every else ", ".join(commands) or "none"


def _cells(declaration: AtomDeclaration) -> tuple[str, ...]:
    return (
        declaration.name,
        declaration.category,
        declaration.risk,
        " ".join(declaration.shown_by),
        " ".join(declaration.ruled_out_by),
        " ".join(declaration.attempted_by) or "-",
        declaration.meaning,
    )


def _record(declaration: AtomDeclaration, origin: Origin) -> dict[str, object]:
    fields = {key: value for key, value in declaration._asdict().items() if key != "predicate"}
    return {
        **fields,
        "signature": signature(declaration),
        "parameters": declaration.parameters,
        "distribution": origin.distribution,
        "version": origin.version,
    }


def _page(declarations: list[AtomDeclaration], registry: Registry) -> str:
    lines = [
        "# Atoms",
        "",
        "Written by `make docs` from `overeager atoms list --markdown`. An atom is TRUE when one witness stands in a",
        "channel that shows it, even a cut one; FALSE when there is none and every channel that rules it out is whole;",
        "else UNKNOWN, with its reason.",
        "",
        "What feeds an atom is found by asking it, not written by hand: `shim rules` are the commands whose shim tells",
        "of something to which it answers, `in texts` further ones that show it where they stand in the text of a call",
        "(of an atom that only the snapshots show: an attempt at it), `tools` the rows of the agents' tool tables. An",
        "atom that only another channel shows has none of them.",
    ]
    for category in sorted({declaration.category for declaration in declarations}):
        lines += ["", f"## {category.capitalize()}"]
        for one in declarations:
            if one.category == category:
                lines += ["", f"### `{signature(one)}`", "", one.meaning, ""]
                told = (*_details(one), *_feeds(one, registry))
                lines += [f"- {heading}: {text}" for heading, text in told if heading != "category"]
    return "\n".join(lines) + "\n"
