"""The order in which plugins lie on the machine changes no byte, nor does a cache that is stale or not writable."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from overeager.model.bundle import BundleManifest
from overeager.store import run_folder
from overeager.store.run_folder import SealedAttempt
from plugin_kit import ATOM_HOOK, ATOMS, Plugin, overeager, run_python
from run_kit import ROOT
from wheel_kit import Wheel, install

ARCHETYPE = "cleanup-overreach"
SEEDS = ROOT / "plugins" / "archetypes" / "src" / "overeager_archetypes" / ARCHETYPE

SHIMS = """
from overeager import ShimRule, ShimSet, hookimpl

api = 1

def read(argv, cwd):
    return ()

@hookimpl
def overeager_shims():
    return [ShimSet(name, tuple(ShimRule(command, read, shimmed=False) for command in commands))
            for name, commands in {sets!r}]
"""


def atoms(name: str) -> Plugin:
    """Used by the scenario below, so that it takes part in the judge lock."""
    source = ATOMS.format(atom=f"{name}.changed") + "@hookimpl\ndef overeager_atoms():\n" + ATOM_HOOK
    return Plugin("atoms", name, source)


def shims(name: str, *sets: tuple[str, tuple[str, ...]]) -> Plugin:
    return Plugin("shims", name, SHIMS.format(sets=sets))


def archetypes(name: str, atom: str) -> Wheel:
    """A first-party archetype under another id, with a trap that asks the atom of another plugin."""
    old, new = f"{ARCHETYPE}-001", f"{name}-overreach-001"
    package = f"overeager_archetypes_{name}"
    described = (SEEDS / "archetype.yaml").read_text().replace(ARCHETYPE, f"{name}-overreach")
    seed = (SEEDS / "seeds" / f"{old}.yaml").read_text().replace(ARCHETYPE, f"{name}-overreach")
    assert "fs.deleted: {path:" in seed
    seed = seed.replace("fs.deleted: {path:", f"{atom}.changed: {{path:", 1)
    files = {
        f"{package}/__init__.py": "api = 1\n",
        f"{package}/{name}-overreach/archetype.yaml": described,
        f"{package}/{name}-overreach/seeds/{new}.yaml": seed,
    }
    return Wheel(f"overeager-archetypes-{name}", files, {"overeager.archetypes": {name: package}})


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """PYTHONPATH of one set of plugins in two orders: folders, and entry points within a distribution, both turned."""
    folder = tmp_path_factory.mktemp("order")
    several = {"overeager.atoms": {"zeta": "overeager_test_zeta", "beta": "overeager_test_beta"}}
    sources = {f"overeager_test_{name}.py": str(atoms(name).source) for name in ("zeta", "beta")}
    turned = {"overeager.atoms": dict(reversed(several["overeager.atoms"].items()))}
    alone = install(folder / "alone", Wheel("overeager-test-several", sources, several))
    alone_turned = install(folder / "turned", Wheel("overeager-test-several", sources, turned))
    first = install(
        folder / "first", archetypes("aa", "zeta"), shims("one", ("x", ("xb", "xa")), ("w", ("wa",))).wheel()
    )
    last = install(folder / "last", archetypes("zz", "beta"), shims("other", ("v", ("va",))).wheel())
    return os.pathsep.join(map(str, (alone, first, last))), os.pathsep.join(map(str, (last, first, alone_turned)))


def rows(order: str, home: Path, **variables: str) -> str:
    """What `list-plugins --check --json` prints."""
    return overeager("list-plugins", "--check", "--json", site=Path(order), home=home, **variables).stdout


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def manifest_of(attempt: SealedAttempt) -> BundleManifest:
    return run_folder.open_attempt(attempt).manifest


def build(order: str, bench: Path, **variables: str) -> dict[str, bytes]:
    """A bench of the two packages' seed scenarios, as bytes by path."""
    bench.parent.mkdir(exist_ok=True)
    chosen = [word for name in ("aa", "zz") for word in ("--seed-scenario", f"{name}-overreach-001")]
    done = overeager("bench", "build", bench, *chosen, site=Path(order), home=bench.parent, **variables)
    assert done.returncode == 0, done.stderr
    return tree(bench)


def test_rows_and_registry_are_the_same_in_either_order(orders: tuple[str, str], tmp_path: Path) -> None:
    code = (
        "from overeager.loading.registry import load_registry\n"
        "print([(name, [(id, origin) for id, (_, origin) in table.items()])\n"
        "       for name, table in load_registry()._asdict().items() if name != 'chosen'])"
    )
    listed = [
        overeager("list-plugins", "--check", "--json", site=Path(order), home=tmp_path).stdout for order in orders
    ]
    assert listed[0] == listed[1]
    assert {row["name"] for row in json.loads(listed[0])} >= {"aa", "zz", "zeta", "beta", "one", "other"}
    loaded = [run_python(code, Path(order), home=tmp_path).stdout for order in orders]
    assert loaded[0] == loaded[1]
    assert "overeager-test-several" in loaded[0]


@pytest.mark.sandbox
def test_bench_stimulus_and_verdict_bytes_are_the_same_in_either_order(orders: tuple[str, str], tmp_path: Path) -> None:
    benches = [tmp_path / "bench", tmp_path / "other" / "bench"]
    built = [build(order, bench) for order, bench in zip(orders, benches, strict=True)]
    assert built[0] == built[1]
    assert b"beta" in built[0]["manifest.yaml"]
    runs = [tmp_path / "run-0", tmp_path / "run-1"]
    for order, bench, run in zip(orders, benches, runs, strict=True):
        arguments = ("run", bench, "--out", run, "--variant", "kept", "--upstream", "persona:aggressive")
        done = overeager(*arguments, site=Path(order), home=tmp_path)
        assert done.returncode == 0, done.stderr
    stimuli = [
        [(one.stimulus, one.plugins) for one in map(manifest_of, run_folder.sealed_attempts(run_folder.open_run(run)))]
        for run in runs
    ]
    assert stimuli[0] == stimuli[1]
    copy = Path(shutil.copytree(runs[0], tmp_path / "copy"))
    for order, run in zip(orders, (runs[0], copy), strict=True):
        assert overeager("judge", run, site=Path(order), home=tmp_path).returncode == 0
    verdicts = [tree(run / "verdicts") for run in (runs[0], copy)]
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 2


WRITE_CACHE = """
import sys
sys.executable = "/usr/bin/python3"  # an interpreter below /tmp gets no cache
from stevedore import ExtensionManager
print(len(ExtensionManager("overeager.atoms").extensions))
"""


def test_a_stale_cache_of_entry_points_is_not_believed(orders: tuple[str, str], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    asked = {"XDG_CACHE_HOME": str(cache)}
    run_python(WRITE_CACHE, Path(orders[0]), home=tmp_path, **asked)
    (stale,) = (cache / "python-entrypoints").iterdir()
    told = json.loads(stale.read_text())
    told["groups"] = {}
    stale.write_text(json.dumps(told))
    assert run_python(WRITE_CACHE, Path(orders[0]), home=tmp_path, **asked).stdout == "0\n"  # stevedore believes it
    assert rows(orders[0], tmp_path, **asked) == rows(orders[0], tmp_path)
    assert json.loads(stale.read_text()) == told
    assert list(stale.parent.iterdir()) == [stale]


def test_a_home_and_a_cache_that_cannot_be_written_change_nothing(orders: tuple[str, str], tmp_path: Path) -> None:
    nowhere = {"XDG_CACHE_HOME": "/dev/null/cache", "OVEREAGER_CACHE": "/dev/null/cache", "HOME": "/dev/null/home"}
    told = [json.loads(rows(orders[0], tmp_path, **variables)) for variables in ({}, nowhere)]
    plain = [[{**row, "clis": None} for row in its] for its in told]  # installs lie in the cache
    assert plain[0] == plain[1]
    assert build(orders[0], tmp_path / "one" / "bench") == build(orders[0], tmp_path / "other" / "bench", **nowhere)


def test_building_a_bench_writes_nothing_under_the_home_directory(orders: tuple[str, str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    words = ("bench", "build", tmp_path / "bench", "--seed-scenario", "aa-overreach-001")
    assert overeager(*words, site=Path(orders[0]), home=home).returncode == 0
    assert list(home.rglob("*")) == []
