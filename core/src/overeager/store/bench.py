"""Benches on disk: `manifest.yaml` and `scenarios/ID.yaml`, verified whenever they are opened."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from overeager.errors import ErrorGroup, OvereagerError, Place
from overeager.model.bench import BenchManifest, Entry
from overeager.model.lock import JudgeLock
from overeager.model.scenario import Scenario
from overeager.model.yaml_source import load_record, read_yaml
from overeager.store.record_yaml import write_record
from overeager.store.removal import remove_tree

GENERATOR = "overeager bench build"
SCHEMA_VERSION = 1

_COMMENT = f"written by `{GENERATOR}`; change the seed scenario and build again"
_REBUILD = f"build it again with `{GENERATOR}`, or take it back from version control"


class Bench(NamedTuple):
    """A verified bench; scenarios in the manifest's order, which is by id."""

    manifest: BenchManifest
    scenarios: tuple[Scenario, ...]


def scenarios_from_seeds(seeds: Iterable[tuple[str, Scenario]]) -> tuple[Scenario, ...]:
    """The scenarios that a bench of `seeds` holds, sorted by id: each its seed scenario, with its provenance told.

    Raises BEN007 when two have one id.
    """
    found: dict[str, tuple[str, Scenario]] = {}
    for source, seed in seeds:
        if seed.id in found:
            cure = f"leave one out; the other stands in {found[seed.id][0]}"
            raise OvereagerError("BEN007", f"the seed scenario '{seed.id}' is given twice", where=source, cure=cure)
        told = seed.provenance.model_copy(update={"seed_scenario": seed.id, "generator": GENERATOR})
        found[seed.id] = (source, seed.model_copy(update={"provenance": told}))
    return tuple(found[scenario_id][1] for scenario_id in sorted(found))


def build_bench(
    name: str, title: str, seeds: Iterable[tuple[str, Scenario]], judge_lock: JudgeLock, directory: Path
) -> Bench:
    """Write the bench of `seeds` as `directory`, in place of an older one, and return what was read back.

    Equal seed scenarios and lock give equal bytes. The old bench stays until the new one is whole. Raises BEN007,
    BEN008 when `directory` holds something else, BEN010 when it cannot be written, BEN011 without seed scenarios,
    BEN014 for a name that is none.
    """
    scenarios = scenarios_from_seeds(seeds)
    if not scenarios:
        raise OvereagerError("BEN011", f"the bench '{name}' would be empty", cure="name at least one seed scenario")
    entries = tuple(
        Entry(id=one.id, sha256=one.digest(), archetype=one.archetype, seed_scenario=one.id) for one in scenarios
    )
    try:
        manifest = BenchManifest(
            schema_version=SCHEMA_VERSION, name=name, title=title, scenarios=entries, judge=judge_lock
        )
    except ValidationError as error:
        cure = "call the folder by lower-case words joined by `-`, `_` or `.`"
        raise OvereagerError("BEN014", f"'{name}' is no name for a bench", where=directory, cure=cure) from error
    _refuse_foreign_folder(directory)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory.parent, prefix=f".{directory.name}.") as scratch:
            fresh = Path(scratch) / "fresh"
            _write_files(manifest, scenarios, fresh)
            bench = load_bench(fresh)
            _replace_folder(directory, fresh, Path(scratch) / "old")
    except OSError as error:
        raise _unwritable(directory, error) from error
    return bench


def load_bench(directory: Path) -> Bench:
    """The bench in `directory`, every scenario held against its hash.

    Raises BEN001 when there is none, BEN002 for another schema version, BEN012 when it cannot be read, or an
    ErrorGroup of BEN003 to BEN006, BEN009 and of what `load_record` raises.
    """
    try:
        manifest = _read_manifest(directory)
        listed = {f"{entry.id}.yaml" for entry in manifest.scenarios}
        errors = [*_repeated(manifest, directory), *_extra_files(directory / "scenarios", listed)]
        scenarios: list[Scenario] = []
        for entry in manifest.scenarios:
            try:
                scenarios.append(_read_scenario(directory / "scenarios" / f"{entry.id}.yaml", entry))
            except ErrorGroup as group:
                errors += group.errors
            except OvereagerError as error:
                errors.append(error)
    except OSError as error:
        raise OvereagerError(
            "BEN012", f"the bench cannot be read: {error.strerror}", where=error.filename, cure="check its permissions"
        ) from error
    if errors:
        raise ErrorGroup(errors)
    return Bench(manifest, tuple(scenarios))


def copy_bench(source: Path, directory: Path) -> None:
    """Lay the manifest and the scenarios that it lists, byte for byte, as a new folder `directory`; raises OSError."""
    names = [f"scenarios/{entry.id}.yaml" for entry in _read_manifest(source).scenarios]
    (directory / "scenarios").mkdir(parents=True)
    for name in ("manifest.yaml", *names):
        (directory / name).write_bytes((source / name).read_bytes())


def relock(directory: Path, judge_lock: JudgeLock) -> Bench:
    """Verify the bench and renew the judge lock in its manifest; no scenario is touched.

    Raises what `load_bench` raises, and BEN010 when the manifest cannot be written.
    """
    bench = load_bench(directory)
    manifest = bench.manifest.model_copy(update={"judge": judge_lock})
    fresh = directory / ".manifest.yaml"
    try:
        fresh.write_text(write_record(manifest, _COMMENT), encoding="utf-8")
        fresh.replace(directory / "manifest.yaml")
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise _unwritable(directory, error) from error
    return bench._replace(manifest=manifest)


def _write_files(manifest: BenchManifest, scenarios: Iterable[Scenario], fresh: Path) -> None:
    (fresh / "scenarios").mkdir(parents=True)
    for scenario in scenarios:
        text = write_record(scenario, _COMMENT)
        (fresh / "scenarios" / f"{scenario.id}.yaml").write_text(text, encoding="utf-8")
    (fresh / "manifest.yaml").write_text(write_record(manifest, _COMMENT), encoding="utf-8")


def _refuse_foreign_folder(directory: Path) -> None:
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise OvereagerError("BEN008", "this is no folder", where=directory, cure="name another place for the bench")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / "manifest.yaml").is_file():
        cure = "name an empty folder, or one that holds an older bench"
        raise OvereagerError("BEN008", "the folder holds something that is no bench", where=directory, cure=cure)


def _replace_folder(directory: Path, fresh: Path, old: Path) -> None:
    replaced = directory.exists()
    if replaced:
        directory.rename(old)
    try:
        fresh.rename(directory)
    except OSError:
        if replaced:
            old.rename(directory)
        raise
    remove_tree(old)


def _read_manifest(directory: Path) -> BenchManifest:
    path = directory / "manifest.yaml"
    if path.is_symlink():
        raise OvereagerError("BEN009", "a bench holds no links", where=path, cure=_REBUILD)
    if not path.is_file():
        cure = f"name a folder that has a manifest.yaml; `{GENERATOR}` makes one"
        raise OvereagerError("BEN001", "there is no bench here", where=directory, cure=cure)
    text = path.read_bytes()
    sourced = read_yaml(text, str(path))
    version = sourced.data.get("schema_version") if isinstance(sourced.data, dict) else None
    if isinstance(version, int) and version != SCHEMA_VERSION:
        raise OvereagerError(
            "BEN002",
            f"the bench has schema version {version}, this program reads {SCHEMA_VERSION}",
            where=Place(str(path), sourced.lines.get(("schema_version",))),
            cure="use the overeager that wrote it, or build it again",
        )
    return load_record(BenchManifest, text, str(path))


def _repeated(manifest: BenchManifest, directory: Path) -> Iterator[OvereagerError]:
    ids = [entry.id for entry in manifest.scenarios]
    for scenario_id in sorted({one for one in ids if ids.count(one) > 1}):
        where = directory / "manifest.yaml"
        yield OvereagerError("BEN007", f"the scenario '{scenario_id}' stands twice", where=where, cure=_REBUILD)


def _extra_files(folder: Path, listed: set[str]) -> Iterator[OvereagerError]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name not in listed:
            cure = "remove it; scenarios come into a bench only by building it"
            yield OvereagerError("BEN004", "the manifest does not list this file", where=path, cure=cure)


def _read_scenario(path: Path, entry: Entry) -> Scenario:
    if path.is_symlink() or path.parent.is_symlink():
        raise OvereagerError("BEN009", "a bench holds no links", where=path, cure=_REBUILD)
    if not path.is_file():
        raise OvereagerError("BEN003", "the manifest lists a scenario that is not there", where=path, cure=_REBUILD)
    scenario = load_record(Scenario, path.read_bytes(), str(path))
    if scenario.digest() != entry.sha256:
        what = f"the scenario is not the one that was built: {scenario.digest()[:12]}… is not {entry.sha256[:12]}…"
        raise OvereagerError("BEN005", what, where=path, cure=_REBUILD)
    told = (scenario.id, scenario.archetype, scenario.provenance.seed_scenario)
    if told != (entry.id, entry.archetype, entry.seed_scenario):
        what = "id, archetype or seed scenario differ from the manifest's"
        raise OvereagerError("BEN006", what, where=path, cure=_REBUILD)
    return scenario


def _unwritable(directory: Path, error: OSError) -> OvereagerError:
    cure = "make room or permission there, or name another place; the old bench is untouched"
    return OvereagerError("BEN010", f"the bench cannot be written: {error.strerror}", where=directory, cure=cure)
