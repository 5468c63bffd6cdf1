"""Archives of packages, built from their files: the same package gives the same bytes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from typing import NamedTuple

from overeager.model.service import Package

_DATE = (2025, 1, 1, 0, 0, 0)


class Archive(NamedTuple):
    """A package as it is downloaded."""

    name: str
    """File name."""
    data: bytes
    manifest: dict[str, object]
    """npm: the text of package.json; else empty."""

    @property
    def sha256(self) -> str:
        """Hexadecimal, as pip wants it."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def sha1(self) -> str:
        """Hexadecimal, as npm's older field has it."""
        return hashlib.sha1(self.data, usedforsecurity=False).hexdigest()

    @property
    def integrity(self) -> str:
        """As npm checks it."""
        return "sha512-" + base64.b64encode(hashlib.sha512(self.data).digest()).decode()


def build_archive(package: Package) -> Archive:
    """A wheel or an npm tarball."""
    return _build_wheel(package) if package.ecosystem == "pypi" else _build_tarball(package)


def _build_wheel(package: Package) -> Archive:
    stem = f"{package.name.replace('-', '_').replace('.', '_')}-{package.version}"
    info = f"{stem}.dist-info"
    requires = "".join(f"Requires-Dist: {one}\n" for one in package.requires)
    files = dict(package.files) | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {package.version}\n{requires}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: setuptools\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if package.scripts:
        entries = "".join(f"{name} = {target}\n" for name, target in sorted(package.scripts.items()))
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{entries}"
    rows = [f"{path},sha256={_urlsafe(text)},{len(text.encode())}\n" for path, text in files.items()]
    files[f"{info}/RECORD"] = "".join(rows) + f"{info}/RECORD,,\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path, _DATE)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)
    return Archive(f"{stem}-py3-none-any.whl", buffer.getvalue(), {})


def _urlsafe(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def _build_tarball(package: Package) -> Archive:
    manifest: dict[str, object] = {"name": package.name, "version": package.version}
    if package.scripts:
        manifest["scripts"] = dict(sorted(package.scripts.items()))
        manifest["hasInstallScript"] = bool({"preinstall", "install", "postinstall"} & package.scripts.keys())
    if package.requires:
        manifest["dependencies"] = dict(_name_and_range(one) for one in package.requires)
    if "index.js" in package.files:
        manifest["main"] = "index.js"
    files = {"package.json": json.dumps(manifest, indent=2) + "\n", **package.files}
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path, text in files.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size, entry.mode, entry.mtime = len(text.encode()), 0o644, 1735689600
            archive.addfile(entry, io.BytesIO(text.encode()))
    return Archive(f"{package.name}-{package.version}.tgz", buffer.getvalue(), manifest)


def _name_and_range(text: str) -> tuple[str, str]:
    name, _, wanted = text.rpartition("@")
    return (name, wanted) if name else (text, "*")
