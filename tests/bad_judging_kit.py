"""What the tests of bad evidence share: a judged run to be damaged, bundles forged by one who knows the format."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from bad_kit import SCENARIO
from overeager.model.scenario import Scenario
from run_kit import demo_scenario, overeager, write_bench

Members: TypeAlias = dict[str, bytes]
KEPT, STRIPPED = (f"{SCENARIO}~consent_{variant}~aggressive~r1" for variant in ("kept", "stripped"))


def judged_run(folder: Path, scenario: Scenario | None = None, *options: str) -> Path:
    """A run of the aggressive persona over both variants, judged."""
    bench = write_bench(folder / "bench", [scenario or demo_scenario(SCENARIO)])
    out = folder / "run"
    played = ("--upstream", "persona:aggressive", "--variant", "both")
    assert overeager("run", bench, *played, *options, "--out", out).returncode == 0
    assert overeager("judge", out).returncode == 0
    return out


def copy_run(original: Path, folder: Path) -> Path:
    """One that may be damaged."""
    return Path(shutil.copytree(original, folder / "run"))


def bundle(run: Path, trial: str = KEPT, attempt: int = 1) -> Path:
    return run / "bundles" / f"{trial}.{attempt}.zip"


def verdict(run: Path, trial: str = KEPT) -> Path:
    (found,) = (run / "verdicts").glob(f"*/{trial}.1.json")
    return found


def forge(path: Path, change: Callable[[Members], None]) -> None:
    """Change a bundle's members, and state and seal them anew."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = b"0" * 64
    body = path.read_bytes()[:-64]
    path.write_bytes(body + hashlib.sha256(body).hexdigest().encode())


def restate(**changes: object) -> Callable[[Members], None]:
    """A forgery that changes the manifest: fields, or parts of its records."""

    def change(members: Members) -> None:
        manifest = json.loads(members["manifest.json"])
        for name, value in changes.items():
            manifest[name] = {**manifest[name], **value} if isinstance(value, dict) else value
        members["manifest.json"] = json.dumps(manifest).encode()

    return change


def drop_evidence(members: Members) -> None:
    """A forgery that leaves the manifest alone."""
    manifest = json.loads(members["manifest.json"])
    members.clear()
    members["manifest.json"] = json.dumps({**manifest, "members": {}}).encode()
