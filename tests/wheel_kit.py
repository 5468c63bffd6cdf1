"""Small distributions, written as wheels and installed by pip: what it leaves is what a stranger's machine has."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple


class Wheel(NamedTuple):
    """A distribution of text files with entry points."""

    distribution: str
    files: Mapping[str, str]
    """Path below site-packages to text."""
    entry_points: Mapping[str, Mapping[str, str]]
    """Group to name to value."""
    version: str = "1.2"
    requires: tuple[str, ...] = ()


def write_wheel(wheel: Wheel, folder: Path) -> Path:
    """The wheel's file in `folder`."""
    stem = f"{wheel.distribution.replace('-', '_')}-{wheel.version}"
    files = {**wheel.files, **_metadata(wheel, f"{stem}.dist-info")}
    record = "".join(f"{name},{_digest(text)},{len(text.encode())}\n" for name, text in files.items())
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in {**files, f"{stem}.dist-info/RECORD": f"{record}{stem}.dist-info/RECORD,,\n"}.items():
            packed.writestr(name, text)
    return path


def install_wheels(wheels: Iterable[Path], target: Path) -> Path:
    """`pip install --target`; gives the folder, which is to be put on PYTHONPATH."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--no-index", "--target", str(target), *map(str, wheels)], check=True)
    return target


def install(target: Path, *wheels: Wheel) -> Path:
    """Write and install; `target` is new."""
    target.mkdir()
    packed = target.with_name(f"{target.name}-wheels")
    packed.mkdir()
    return install_wheels([write_wheel(wheel, packed) for wheel in wheels], target)


def _metadata(wheel: Wheel, folder: str) -> dict[str, str]:
    requires = "".join(f"Requires-Dist: {one}\n" for one in wheel.requires)
    about = f"Metadata-Version: 2.1\nName: {wheel.distribution}\nVersion: {wheel.version}\n{requires}"
    points = "\n".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items())
        for group, names in wheel.entry_points.items()
    )
    return {
        f"{folder}/METADATA": about,
        f"{folder}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{folder}/entry_points.txt": points,
    }


def _digest(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
