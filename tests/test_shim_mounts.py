from __future__ import annotations

from pathlib import Path

import pytest

from overeager.audit.shim.build import ShimBinary
from overeager.audit.shim.mounts import mounts, names, scripts

pytestmark = pytest.mark.pure

PROGRAM = b"\x7fELF program " + b"\1\2\3\4\5\6\7" * 2 + b"\0" * 242 + b" end"


@pytest.fixture
def system(tmp_path: Path) -> Path:
    root = tmp_path / "usr"
    for folder in ("bin", "sbin", "lib/vendor", "local/bin"):
        (root / folder).mkdir(parents=True)
    for name in ("bin/rm", "bin/python3.11", "bin/pgrep", "lib/vendor/kubectl", "local/bin/docker", "sbin/ip"):
        (root / name).write_bytes(b"\x7fELF" + b"x" * 3000)
    (root / "bin/python3").symlink_to("python3.11")
    (root / "bin/pkill").symlink_to("pgrep")
    (root / "bin/kubectl").symlink_to("../lib/vendor/kubectl")
    (root / "bin/docker").symlink_to("../local/bin/docker")
    (root / "bin/pip").write_text("#!/usr/bin/python3\n")
    (root / "lib/vendor/npm-cli.js").write_text("#!/usr/bin/env node\n")
    (root / "bin/npm").symlink_to("../lib/vendor/npm-cli.js")
    (root / "bin/outside").symlink_to("/etc/passwd")
    return root


@pytest.fixture
def binary(tmp_path: Path) -> ShimBinary:
    path = tmp_path / "c" / "init"
    path.parent.mkdir()
    path.write_bytes(PROGRAM)
    return ShimBinary(path, "", "cc")


def targets(binary: ShimBinary, system: Path, *commands: str) -> list[str]:
    return [mount.target for mount in mounts(binary, commands, system)]


def test_a_program_gets_its_shim_over_its_real_file(binary: ShimBinary, system: Path) -> None:
    assert targets(binary, system, "rm", "python3") == ["/usr/local/libexec/bin", "/usr/bin/python3.11", "/usr/bin/rm"]


def test_a_program_that_lies_elsewhere_is_mirrored_from_there(binary: ShimBinary, system: Path) -> None:
    found = mounts(binary, ["kubectl"], system)
    assert (system / "lib/vendor", "/usr/local/libexec/lib/vendor", False) in found
    assert found[-1].target == "/usr/lib/vendor/kubectl"


def test_a_script_gets_its_shim_first_in_path_under_its_own_name(binary: ShimBinary, system: Path) -> None:
    assert targets(binary, system, "pip", "npm") == [
        "/usr/local/libexec/bin",
        "/usr/local/bin/npm",
        "/usr/local/bin/pip",
    ]
    assert scripts(["pip", "npm", "rm"], system) == ("npm", "pip")


def test_what_the_sandbox_will_not_have_gets_no_shim(binary: ShimBinary, system: Path) -> None:
    assert targets(binary, system, "docker", "outside", "no-such-command") == ["/usr/local/libexec/bin"]


def test_a_program_outside_bin_is_found_in_sbin(binary: ShimBinary, system: Path) -> None:
    assert targets(binary, system, "ip")[-1] == "/usr/sbin/ip"


def test_git_gets_its_shim_where_its_own_hooks_and_aliases_start_it_too(binary: ShimBinary, system: Path) -> None:
    (system / "lib/git-core").mkdir()
    for name in ("bin/git", "lib/git-core/git"):
        (system / name).write_bytes(b"\x7fELF" + b"g" * 3000)
    assert targets(binary, system, "git") == [
        "/usr/local/libexec/bin", "/usr/local/libexec/lib/git-core", "/usr/bin/git", "/usr/lib/git-core/git",
    ]  # fmt: skip
    (system / "lib/git-core/git").unlink()
    (system / "lib/git-core/git").symlink_to("../../bin/git")
    assert targets(binary, system, "git") == ["/usr/local/libexec/bin", "/usr/bin/git"]
    assert names(["git"], system) == {"git": ("git",)}


def test_names_tell_the_commands_of_each_file(system: Path) -> None:
    assert names(["rm", "python3", "pkill", "pgrep"], system) == {
        "pgrep": ("pgrep", "pkill"),
        "python3.11": ("python3",),
        "rm": ("rm",),
    }


def test_each_copy_has_the_size_and_time_of_its_program_and_bytes_of_its_own(binary: ShimBinary, system: Path) -> None:
    found = {mount.target: mount.source for mount in mounts(binary, ["rm", "python3"], system)}
    copy, other = found["/usr/bin/rm"], found["/usr/bin/python3.11"]
    real = (system / "bin/rm").stat()
    assert (copy.stat().st_size, copy.stat().st_mtime_ns) == (real.st_size, real.st_mtime_ns)
    assert copy.read_bytes() != other.read_bytes()
    assert (copy.name, other.name) == ("rm", "python3.11")


def test_each_copy_carries_the_commands_that_it_is_longest_first(binary: ShimBinary, system: Path) -> None:
    (found,) = [m for m in mounts(binary, ["pkill", "pgrep", "rm"], system) if m.target == "/usr/bin/pgrep"]
    data = found.source.read_bytes()
    assert data.startswith(b"\x7fELF program pgrep\0pkill\0\0")
    assert data[: len(PROGRAM)].endswith(b"\0 end")


def test_copies_are_made_once_for_one_set_of_commands(binary: ShimBinary, system: Path) -> None:
    first = mounts(binary, ["rm"], system)
    born = first[-1].source.stat().st_ino
    assert mounts(binary, ["rm"], system) == first
    assert first[-1].source.stat().st_ino == born


def test_a_program_that_was_updated_gets_a_new_copy(binary: ShimBinary, system: Path) -> None:
    first = mounts(binary, ["rm"], system)
    (system / "bin/rm").write_bytes(b"\x7fELF" + b"y" * 5000)
    second = mounts(binary, ["rm"], system)
    assert first[-1].source != second[-1].source
    assert second[-1].source.stat().st_size == 5004
