from __future__ import annotations

import os
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import pytest

from overeager import canonical
from overeager.audit.shim.build import build, compiler
from overeager.errors import OvereagerError


def test_build_makes_a_program_once_and_gives_the_same_again(tmp_path: Path) -> None:
    first = build(tmp_path)
    born = first.path.stat().st_mtime_ns
    assert build(tmp_path) == first
    assert first.path.stat().st_mtime_ns == born
    assert first.sha256 == canonical.sha256(first.path.read_bytes())


def test_build_names_one_program_for_one_source_and_compiler_wherever_the_cache_lies(tmp_path: Path) -> None:
    first, second = build(tmp_path / "a"), build(tmp_path / "b")
    assert (first.sha256, first.path.parent.name) == (second.sha256, second.path.parent.name)


def test_every_user_can_read_and_execute_what_is_built_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        binary = build(tmp_path)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (binary.path, binary.path.parent)] == [0o755, 0o755]


def test_builders_at_once_agree_and_leave_no_drafts(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        built = set(pool.map(lambda _: build(tmp_path), range(8)))
    assert len(built) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_without_any_compiler_the_shell_form_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    binary = build(tmp_path / "c")
    assert (binary.form, binary.gaps != "") == ("sh", True)


def test_a_compiler_that_fails_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "cc"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "no such target" >&2\nexit 1\n')
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert build(tmp_path / "c").form != "cc"
    with pytest.raises(OvereagerError, match=r"AUD021.*cc: no such target"):
        build(tmp_path / "c", form="cc")


def test_a_compiler_whose_programs_do_not_run_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    liar = tmp_path / "cc"
    liar.write_text('#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && cp /bin/true "$2"; shift; done\n')
    liar.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(OvereagerError, match="status 0 where 7 was due"):
        build(tmp_path / "c", form="cc")


def test_an_unknown_form_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVEREAGER_SHIM", "zik")
    with pytest.raises(OvereagerError, match=r"AUD020 unknown form 'zik'[^$]*did you mean 'zig'"):
        build(tmp_path)


def test_a_forced_form_is_the_one_that_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVEREAGER_SHIM", "sh")
    assert build(tmp_path).form == "sh"


def test_a_cache_that_cannot_be_made_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OvereagerError, match="AUD021"):
        build(tmp_path / "file")


@pytest.mark.parametrize("name", ["shim.c", "first.c"])
def test_the_source_compiles_without_a_warning(name: str, tmp_path: Path) -> None:
    for one in (name, "bare.h"):
        (tmp_path / one).write_bytes(files("overeager.audit.shim").joinpath(one).read_bytes())
    command = compiler("cc") or compiler("zig")
    assert command
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Os", "-ffreestanding", "-c", name]
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(tmp_path), "ZIG_LOCAL_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [*command, *flags], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
