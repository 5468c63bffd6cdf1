"""What runs later by itself, and packages: told by name, with the lines that came and went."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from state_kit import HOME, changes, told


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("path", "told_as"),
    [
        (".bashrc", "shell/.bashrc: start file created"),
        (".zshenv", "shell/.zshenv: start file created"),
        (".config/fish/conf.d/x.fish", "shell/fish/conf.d/x.fish: start file created"),
        (".ssh/authorized_keys", "ssh/authorized_keys: start file created"),
        (".ssh/rc", "ssh/rc: start file created"),
        (".config/autostart/x.desktop", "desktop/x.desktop: start file created"),
        (".config/systemd/user/default.target.wants/x.service", "unit/default.target.wants/x.service: unit created"),
        (".npmrc", "npm/.npmrc: start file created"),
        (".config/pip/pip.conf", "pip/pip.conf: start file created"),
        (".docker/config.json", "docker/config.json: start file created"),
        (".aws/credentials", "cloud/aws/credentials: start file created"),
        (".kube/config", "kube/config: start file created"),
    ],
)
def test_what_starts_or_is_obeyed_later_is_told_by_its_name(path: str, told_as: str, tmp_path: Path) -> None:
    assert told(tmp_path, lambda: write(tmp_path / path, "x\n")) == [f"{path} {told_as}"]


def test_a_file_of_that_name_elsewhere_is_none(tmp_path: Path) -> None:
    assert told(tmp_path, lambda: write(tmp_path / "project-x/.bashrc", "x\n")) == []


def test_the_lines_that_came_and_went_are_told(tmp_path: Path) -> None:
    write(tmp_path / ".bashrc", "one\ntwo\n")
    (line,) = changes(tmp_path, lambda: write(tmp_path / ".bashrc", "one\nthree\nfour\n"))
    assert (line.system, line.operation, line.place) == ("start", "modified", f"{HOME}/.bashrc")
    assert (line.added, line.removed) == (("three", "four"), ("two",))


def test_a_start_file_put_back_is_no_change(tmp_path: Path) -> None:
    write(tmp_path / ".bashrc", "one\n")
    assert told(tmp_path, lambda: [write(tmp_path / ".bashrc", "two\n"), write(tmp_path / ".bashrc", "one\n")]) == []


def test_a_unit_that_is_gone_is_told(tmp_path: Path) -> None:
    unit = tmp_path / ".config/systemd/user/x.service"
    write(unit, "[Service]\n")
    assert told(tmp_path, unit.unlink) == [".config/systemd/user/x.service unit/x.service: unit deleted"]


def test_packages_of_pip_are_told_with_their_versions(tmp_path: Path) -> None:
    site = tmp_path / ".local/lib/python3.11/site-packages"
    write(site / "old_tool-1.0.dist-info/METADATA", "x")
    write(site / "kept-1.0.dist-info/METADATA", "x")

    def act() -> None:
        (site / "old_tool-1.0.dist-info/METADATA").unlink()
        (site / "old_tool-1.0.dist-info").rmdir()
        write(site / "old_tool-2.0.dist-info/METADATA", "x")
        write(site / "New.Tool-3.1.dist-info/METADATA", "x")
        write(site / "kept-1.0.dist-info/RECORD", "x")
        write(site / "run.pth", "import os\n")

    found = {(one.object, one.words, one.before, one.after) for one in changes(tmp_path, act)}
    assert ("pip/old-tool", "package version changed", "1.0", "2.0") in found
    assert ("pip/new.tool", "package installed", None, "3.1") in found
    assert {name for name, *_ in found} == {"pip/old-tool", "pip/new.tool", "path-file/run.pth"}


def test_a_package_whose_record_is_removed_is_gone(tmp_path: Path) -> None:
    site = tmp_path / "project-x/site-packages"
    write(site / "tool-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tool\nVersion: 1.0\n")
    write(site / "tool-1.0.dist-info/RECORD", "tool.py,,\ntool-1.0.dist-info/METADATA,,\ntool-1.0.dist-info/RECORD,,\n")
    write(site / "tool.py", "")
    program = f"import sys; sys.path.insert(0, {str(site)!r}); import importlib.metadata as m; print(m.version('tool'))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "1.0\n"

    def act() -> None:
        for path in sorted((site / "tool-1.0.dist-info").iterdir()):
            path.unlink()
        (site / "tool-1.0.dist-info").rmdir()

    (line,) = changes(tmp_path, act)
    assert (line.operation, line.place, line.object) == ("deleted", f"{HOME}/project-x/site-packages", "pip/tool")


def test_packages_of_npm_are_those_at_the_top(tmp_path: Path) -> None:
    modules = tmp_path / "project-x/node_modules"

    def act() -> None:
        write(modules / "left-pad/package.json", '{"version": "1.3.0"}')
        write(modules / "@scope/tool/package.json", '{"version": "2.0.0"}')
        write(modules / "left-pad/node_modules/inner/package.json", '{"version": "1.0.0"}')
        write(modules / "left-pad/lib/package.json", "{}")

    found = [(one.object, one.words, one.after) for one in changes(tmp_path, act)]
    assert found == [
        ("npm/@scope/tool", "package installed", "2.0.0"),
        ("npm/left-pad", "package installed", "1.3.0"),
    ]


def test_a_program_in_the_homes_own_folder_is_told(tmp_path: Path) -> None:
    assert told(tmp_path, lambda: write(tmp_path / ".local/bin/git", "#!/bin/sh\n")) == [
        ".local/bin program/git: program installed"
    ]
