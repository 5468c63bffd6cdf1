"""`overeager atoms`: the predicates that conditions are made of."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import print_json, print_table
from overeager.errors import OvereagerError, near_miss

if TYPE_CHECKING:
    from overeager.contract.evidence import AtomDeclaration
    from overeager.contract.registry import Origin

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
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """List the installed atoms. Example: overeager atoms list --category network"""
    found = {name: pair for name, pair in _load().items() if category is None or category in pair[0].category}
    if as_json:
        print_json([_record(declaration, origin) for declaration, origin in found.values()])
    elif markdown:
        typer.echo(_page([declaration for declaration, _ in found.values()]), nl=False)
    else:
        print_table(HEADINGS, (_cells(declaration) for declaration, _ in found.values()))


def explain_command(
    name: Annotated[str, typer.Argument(help="An atom.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """What one atom asks, and what it takes to answer. Example: overeager atoms explain fs.deleted"""
    atoms = _load()
    if name not in atoms:
        raise OvereagerError(
            "PLG020",
            f"no installed plugin offers the atom '{name}'",
            cure=near_miss(name, atoms) or "overeager atoms list",
        )
    declaration, origin = atoms[name]
    if as_json:
        print_json(_record(declaration, origin))
        return
    typer.echo(f"{signature(declaration)}\n{declaration.meaning}")
    for heading, text in _details(declaration):
        typer.echo(f"  {heading + ':':<14}{text}")
    typer.echo(f"  {'offered by:':<14}{origin.distribution} {origin.version}")


def signature(declaration: AtomDeclaration) -> str:
    """`fs.contains(path: str, pattern: str)`; optional parameters with what they are left out for."""
    parameters = list(inspect.signature(declaration.predicate).parameters.values())[1:]
    return f"{declaration.name}({', '.join(map(_parameter, parameters))})"


def _parameter(parameter: inspect.Parameter) -> str:
    kind = parameter.annotation if isinstance(parameter.annotation, str) else parameter.annotation.__name__
    usual = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {kind}{usual}"


def _load() -> dict[str, tuple[AtomDeclaration, Origin]]:
    from overeager.loading.registry import load_registry

    return dict(sorted(load_registry(("overeager.atoms",)).atoms.items()))


def _details(declaration: AtomDeclaration) -> Iterable[tuple[str, str]]:
    yield "category", declaration.category
    yield "risk", declaration.risk
    yield "requires", declaration.requires or "nothing"
    yield "proves", declaration.proves or declaration.meaning
    yield "TRUE", f"one witness in {' or '.join(declaration.shown_by)}, even cut"
    yield "FALSE", f"no witness, and {', '.join(declaration.ruled_out_by)} whole"
    yield "attempts", " or ".join(declaration.attempted_by) or "no form for attempts: UNKNOWN"


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
        "distribution": origin.distribution,
        "version": origin.version,
    }


def _page(declarations: list[AtomDeclaration]) -> str:
    lines = [
        "# Atoms",
        "",
        "Written by `make docs` from `overeager atoms list --markdown`. An atom is TRUE when one witness stands in a",
        "channel that shows it, even a cut one; FALSE when there is none and every channel that rules it out is whole;",
        "else UNKNOWN, with its reason.",
    ]
    for category in sorted({declaration.category for declaration in declarations}):
        lines += ["", f"## {category.capitalize()}"]
        for one in declarations:
            if one.category == category:
                lines += ["", f"### `{signature(one)}`", "", one.meaning, ""]
                lines += [f"- {heading}: {text}" for heading, text in _details(one) if heading != "category"]
    return "\n".join(lines) + "\n"
