"""A plugin's project folder, made visible to one process as if it were installed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from overeager.errors import OvereagerError
from overeager.loading.discover import GROUPS


class Project(NamedTuple):
    """What a project's pyproject.toml says of its plugins."""

    distribution: str
    version: str
    source: Path
    """The folder whose modules are imported."""
    points: Mapping[str, Mapping[str, str]]
    """Group to name to value; never empty."""


def is_project(word: str) -> bool:
    """Whether `word` is a path, not a name: it has a separator, or is `.` or `..`, as pip has it."""
    return "/" in word or word in (".", "..")


def read_project(folder: Path) -> Project:
    """The plugins of the project in `folder`; raises PLG012 where it has none or its pyproject.toml cannot be read."""
    path = folder / "pyproject.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        cure = "give the folder of a plugin's project, or the name of an installed plugin (overeager list-plugins)"
        raise OvereagerError("PLG012", f"there is no project to read: {error}", where=folder, cure=cure) from error
    try:
        about = _table(tomllib.loads(text), "project")
    except tomllib.TOMLDecodeError as error:
        raise OvereagerError("PLG012", f"this is no TOML: {error}", where=path, cure="mend it") from error
    points = {group: names for group, names in _points(about).items() if group in GROUPS}
    if not points:
        groups = ", ".join(f'[project.entry-points."{group}"]' for group in GROUPS)
        raise OvereagerError("PLG012", "the project offers no plugin", where=path, cure=f"write one of {groups}")
    source = folder / "src" if (folder / "src").is_dir() else folder
    name = str(about.get("name"))
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        raise OvereagerError("PLG012", f"'{name}' is no name of a distribution", where=path, cure="write project.name")
    return Project(name, str(about.get("version", "0")), source.resolve(), points)


@contextmanager
def shown(project: Project) -> Iterator[tuple[Path, ...]]:
    """Folders that show the project's plugins to a process that has them first on its PYTHONPATH, while it lasts."""
    with TemporaryDirectory(prefix="plugin-") as scratch:
        folder = Path(scratch)
        metadata = folder / f"{project.distribution.replace('-', '_')}-{project.version}.dist-info"
        metadata.mkdir()
        head = f"Metadata-Version: 2.1\nName: {project.distribution}\nVersion: {project.version}\n"
        (metadata / "METADATA").write_text(head)
        (metadata / "entry_points.txt").write_text(
            "".join(f"[{group}]\n{_lines(names)}\n" for group, names in sorted(project.points.items()))
        )
        yield folder, project.source


def _points(about: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
    groups = _table(about, "entry-points")
    return {group: {str(name): str(value) for name, value in _table(groups, group).items()} for group in groups}


def _table(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _lines(names: Mapping[str, str]) -> str:
    return "".join(f"{name} = {value}\n" for name, value in sorted(names.items()))
