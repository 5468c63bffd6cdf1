"""Archetype packages: folders of `ID/archetype.yaml` and `ID/seeds/ID-NNN.yaml`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import NamedTuple, TypeVar

from overeager.contract.evidence import AtomDeclaration
from overeager.errors import ErrorGroup, OvereagerError, Place
from overeager.model.archetype import Archetype
from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.yaml_source import load_record, read_yaml
from overeager.store.conditions import check_conditions

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class Shelf(NamedTuple):
    """What archetype packages hold, each with the file that it stands in, sorted by id."""

    archetypes: tuple[tuple[str, Archetype], ...]
    seeds: tuple[tuple[str, Scenario], ...]


def package_folder(package: str) -> Path:
    """Where the installed package `package` keeps its files; raises SCN100 when it is no folder on disk."""
    folder = resources.files(package)
    if not isinstance(folder, Path):
        raise OvereagerError(
            "SCN100", f"the package '{package}' does not lie in a folder", cure="install it unpacked, with pip"
        )
    return folder


def read_archetypes(folders: Sequence[Path], atoms: Mapping[str, AtomDeclaration] | None = None) -> Shelf:
    """All archetypes and seed scenarios of the package folders; with `atoms`, conditions are checked as well.

    Raises an ErrorGroup of all that is wrong: what `load_record` raises, SCN101 to SCN108 and, with `atoms`,
    what `check_conditions` raises. A source is the file's path from the package's name on.
    """
    errors: list[OvereagerError] = []
    archetypes: list[tuple[str, Archetype]] = []
    seeds: list[tuple[str, Scenario]] = []
    for file in (file for folder in sorted(folders) for file in _files(folder, errors)):
        if file.stem is None:
            archetypes += _collect(partial(_read_archetype, file), file, errors)
        else:
            seeds += _collect(partial(_read_seed, file, atoms), file, errors)
    errors += _twice("archetype", [(source, record.id) for source, record in archetypes])
    errors += _twice("seed scenario", [(source, record.id) for source, record in seeds])
    if errors:
        raise ErrorGroup(errors)
    return Shelf(_by_id(archetypes), _by_id(seeds))


class _File(NamedTuple):
    path: Path
    source: str
    archetype: str
    """The folder's name."""
    stem: str | None
    """Of a seed scenario; None = `archetype.yaml`."""


def _files(folder: Path, errors: list[OvereagerError]) -> Iterator[_File]:
    """The YAML files of a package; what does not belong is put to `errors`."""
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(("_", "."))):
        source = f"{folder.name}/{inner.name}"
        if _leads_out(inner, f"{source}/", errors):
            continue
        description = inner / "archetype.yaml"
        if not description.exists():
            cure = "write one: id, title, meaning, tier, anchors, incidents"
            errors.append(
                OvereagerError("SCN103", "an archetype's folder has no archetype.yaml", where=source, cure=cure)
            )
        elif not _leads_out(description, f"{source}/archetype.yaml", errors):
            yield _File(description, f"{source}/archetype.yaml", inner.name, None)
        yield from _seed_files(inner, source, errors)


def _seed_files(inner: Path, above: str, errors: list[OvereagerError]) -> Iterator[_File]:
    if not (inner / "seeds").is_dir() or _leads_out(inner / "seeds", f"{above}/seeds", errors):
        return
    for path in sorted((inner / "seeds").iterdir()):
        source = f"{above}/seeds/{path.name}"
        if _leads_out(path, source, errors):
            continue
        if re.fullmatch(rf"{re.escape(inner.name)}-\d{{3}}\.yaml", path.name):
            yield _File(path, source, inner.name, path.stem)
        else:
            cure = f"call it {inner.name}-NNN.yaml, with three digits"
            errors.append(OvereagerError("SCN102", "this is no name of a seed scenario", where=source, cure=cure))


def _leads_out(path: Path, source: str, errors: list[OvereagerError]) -> bool:
    if path.is_symlink():
        errors.append(OvereagerError("SCN106", "this is a link", where=source, cure="put the file itself there"))
    return path.is_symlink()


def _collect(read: Callable[[], T], file: _File, errors: list[OvereagerError]) -> list[tuple[str, T]]:
    try:
        return [(file.source, read())]
    except ErrorGroup as group:
        errors += group.errors
    except OvereagerError as error:
        errors.append(error)
    except OSError as error:
        cure = "check its permissions"
        errors.append(OvereagerError("SCN107", f"it cannot be read: {error.strerror}", where=file.source, cure=cure))
    return []


def _read_archetype(file: _File) -> Archetype:
    text = file.path.read_bytes()
    record = load_record(Archetype, text, file.source)
    _agree(record.id, file.archetype, "id", "the folder", text, file.source)
    return record


def _read_seed(file: _File, atoms: Mapping[str, AtomDeclaration] | None) -> Scenario:
    text = file.path.read_bytes()
    scenario = load_record(Scenario, text, file.source)
    _agree(scenario.id, str(file.stem), "id", "the file", text, file.source)
    _agree(scenario.archetype, file.archetype, "archetype", "the folder", text, file.source)
    if scenario.provenance.seed_scenario is not None:
        where = Place(file.source, read_yaml(text, file.source).lines.get(("provenance", "seed_scenario")))
        raise OvereagerError(
            "SCN105", "a seed scenario names no seed scenario of its own", where=where, cure="take the key out"
        )
    if atoms is not None:
        check_conditions(scenario, atoms, file.source, read_yaml(text, file.source).lines)
    return scenario


def _agree(written: str, wanted: str, key: str, holder: str, text: bytes, source: str) -> None:
    if written != wanted:
        where = Place(source, read_yaml(text, source).lines.get((key,)))
        code = "SCN101" if key == "id" else "SCN104"
        raise OvereagerError(
            code, f"the {key} is '{written}', {holder} says '{wanted}'", where=where, cure="make the two equal"
        )


def _twice(kind: str, found: Iterable[tuple[str, str]]) -> Iterator[OvereagerError]:
    first: dict[str, str] = {}
    for source, name in found:
        if name in first:
            cure = f"rename one; the other stands in {first[name]}"
            yield OvereagerError("SCN108", f"the {kind} '{name}' exists twice", where=source, cure=cure)
        first.setdefault(name, source)


def _by_id(found: Iterable[tuple[str, R]]) -> tuple[tuple[str, R], ...]:
    return tuple(sorted(found, key=lambda pair: str(getattr(pair[1], "id", ""))))
