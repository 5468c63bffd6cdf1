"""`overeager new-plugin`: a small, complete distribution that passes its own tests, to be changed into one's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from overeager.cli.invocation import program
from overeager.cli.output import say
from overeager.errors import OvereagerError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SKELETON = "skeleton"
_SUFFIX = ".jinja"
_NAME = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
_LONGEST = 40


class Kind(StrEnum):
    """What can be written; the words of distributions."""

    agent = "agent"
    archetypes = "archetypes"
    axis = "axis"
    shims = "shims"
    atoms = "atoms"


_SUMMARIES: Mapping[Kind, str] = {
    Kind.agent: "an agent of overeager",
    Kind.archetypes: "archetypes of overreach with seed scenarios",
    Kind.axis: "an axis along which scenarios are mutated",
    Kind.shims: "shims: how commands read as doings",
    Kind.atoms: "atoms: predicates for conditions",
}


class Plugin(NamedTuple):
    """The names of a new plugin."""

    kind: Kind
    name: str
    """A slug: the entry point's name."""

    @property
    def distribution(self) -> str:
        """`overeager-agent-mine`."""
        return f"overeager-{self.kind}-{self.name}"

    @property
    def package(self) -> str:
        """`overeager_agent_mine`."""
        return self.distribution.replace("-", "_")

    @property
    def group(self) -> str:
        """The plural: `agents`."""
        return {"agent": "agents", "axis": "axes"}.get(self.kind, str(self.kind))

    @property
    def words(self) -> Mapping[str, str]:
        """What templates may name, in their paths as well."""
        from importlib.metadata import version

        major, minor = version("overeager").split(".")[:2]
        class_name = "".join(part.capitalize() for part in self.name.split("-")) + "Agent"
        return {
            "kind": self.kind,
            "name": self.name,
            "identifier": self.name.replace("-", "_"),
            "title": self.name.replace("-", " ").capitalize(),
            "class_name": class_name,
            "distribution": self.distribution,
            "package": self.package,
            "group": self.group,
            "attribute": ".adapter:" + class_name if self.kind is Kind.agent else "",
            "summary": _SUMMARIES[self.kind],
            "requirement": f"overeager>={major}.{minor},<{major}.{int(minor) + 1}",
        }


def new_plugin_command(
    kind: Annotated[Kind, typer.Argument(help="What it brings.")],
    name: Annotated[str, typer.Argument(help="Its name, for example mine; the distribution is overeager-KIND-NAME.")],
    directory: Annotated[Path, typer.Option(help="Where its folder is made.")] = Path(),
) -> None:
    """Write a small, complete plugin that passes its own tests as it stands.

    Example: overeager new-plugin agent mine
    """
    plugin = read_name(kind, name)
    folder = directory / plugin.distribution
    _check_free(plugin, folder)
    try:
        _write(folder, render(plugin))
        if kind is Kind.archetypes:
            _publish_ids(folder / "src" / plugin.package)
    except OSError as error:
        cure = "choose another --directory"
        raise OvereagerError("PLG015", f"it cannot be written: {error}", where=folder, cure=cure) from error
    check = " ".join([*program(), "check-plugin", f"{plugin.group}:{plugin.name}"])
    say(f"{folder} is written and passes its tests as it stands. Next:")
    say(f"  pip install -e {folder}\n  {check}\n  pytest {folder}\n  and change it: {folder}/README.md says where")


def read_name(kind: Kind, name: str) -> Plugin:
    """The plugin that `name` means, with or without the distribution's prefix; raises PLG014."""
    short = name.removeprefix(f"overeager-{kind}-")
    if not re.fullmatch(_NAME, short) or len(short) > _LONGEST:
        slug = re.sub(r"[^a-z0-9]+", "-", short.lower()).strip("-")[:_LONGEST].rstrip("-")
        fits = re.fullmatch(_NAME, slug)
        cure = f"for example '{slug}'" if fits else "for example 'mine'"
        what = f"'{name}' is no name: small letters, digits and single dashes, a letter first, {_LONGEST} at most"
        raise OvereagerError("PLG014", what, cure=cure)
    if kind is Kind.agent:
        _check_telling(short)
    return Plugin(kind, short)


def render(plugin: Plugin) -> Iterator[tuple[str, str]]:
    """Each file of the distribution: its path and its text."""
    from importlib.resources import files

    from jinja2 import Environment, StrictUndefined

    # Python, YAML and TOML are full of braces and brackets; nothing in them is a guillemet.
    environment = Environment(
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
        variable_start_string="«",
        variable_end_string="»",
        block_start_string="«%",
        block_end_string="%»",
        comment_start_string="«#",
        comment_end_string="#»",
    )
    for part in ("common", str(plugin.kind)):
        for path, template in _templates(files("overeager") / _SKELETON / part, ""):
            yield path.format(**plugin.words), environment.from_string(template).render(plugin.words)


def _check_free(plugin: Plugin, folder: Path) -> None:
    """Raise PLG015 where the folder is there, PLG005 where an installed plugin has the name."""
    from overeager.loading.discover import scan

    if folder.exists() or folder.is_symlink():
        raise OvereagerError("PLG015", "this is there already", where=folder, cure="choose another name or --directory")
    for found in scan():
        if found.label == f"{plugin.group}:{plugin.name}":
            what = f"the name '{found.name}' is taken: {found.label} is brought by {found.origin}"
            raise OvereagerError("PLG005", what, cure="choose another: two of one name stop every command")


def _check_telling(name: str) -> None:
    """An agent's name stands in its own files' paths, which the agent can see."""
    from overeager.conformance.scenario_text import TELLING_WORDS

    for word in TELLING_WORDS:
        if word in name:
            what = (
                f"'{name}' holds the word '{word}', and an agent sees its own name; it would know that it is measured"
            )
            raise OvereagerError("PLG014", what, cure="choose a name that says what the agent is")


def _publish_ids(package: Path) -> None:
    """The first `ids.lock`; digests depend on the name."""
    from overeager.conformance.archetypes.published import update_ids
    from overeager.store.archetypes import read_archetypes

    update_ids(package, read_archetypes([package]))


def _templates(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _templates(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(_SUFFIX):
            yield prefix + entry.name.removesuffix(_SUFFIX), entry.read_text(encoding="utf-8")


def _write(folder: Path, texts: Iterator[tuple[str, str]]) -> None:
    """All files below `folder`, which is new."""
    everything = tuple(texts)
    folder.mkdir(parents=True)
    for name, text in everything:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
