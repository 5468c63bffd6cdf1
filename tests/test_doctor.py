from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from overeager.audit import shim_build, shim_mounts
from overeager.run import doctor
from overeager.run.rehearsal import rehearse
from overeager.run.stage import Rig
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import locate_bubblewrap


@pytest.fixture
def cache() -> Iterator[Path]:
    # Not tmp_path: the user that root drops to cannot enter it.
    folder = Path(tempfile.mkdtemp(prefix="d"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.sandbox
def test_doctor_finds_nothing_that_fails_where_the_tests_run(cache: Path) -> None:
    checks = doctor.examine(cache)
    assert [check for check in checks if check.ok is False] == []
    assert {"python", "cache", "shims", "bubblewrap", "sandbox", "rehearsal", "npm", "docker"} <= {
        c.name for c in checks
    }


@pytest.mark.sandbox
def test_rehearsal_names_a_shim_that_is_not_in_its_place(cache: Path) -> None:
    identity = choose_identity()
    shim = shim_build.build(cache)
    laid = [mount for mount in shim_mounts.mounts(shim, ["cat", "rm"]) if mount.target != "/usr/bin/rm"]
    rig = Rig(locate_bubblewrap(cache, identity), shim.path, tuple(laid), shim.form)
    coverage = rehearse(rig, identity, ["cat", "rm"]).coverage
    assert {call.command for call in coverage.gaps} == {"rm"}
    assert coverage.health.state == "truncated"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to another user")
def test_doctor_tells_a_cache_that_the_agents_user_cannot_enter(cache: Path) -> None:
    cache.chmod(0o700)
    check = doctor.check_cache(cache / "below", choose_identity())
    assert check.ok is False
    assert "OVEREAGER_CACHE" in check.cure


def test_doctor_tells_a_cache_that_cannot_be_made(cache: Path) -> None:
    (cache / "file").write_text("")
    check = doctor.check_cache(cache / "file", choose_identity())
    assert (check.ok, "OVEREAGER_CACHE" in check.cure) == (False, True)


def test_doctor_says_what_the_shell_form_leaves_out(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVEREAGER_SHIM", "sh")
    shim, check = doctor.check_shim(cache, choose_identity())
    assert shim is not None
    assert (check.ok, check.found) == (None, shim.gaps)


def test_doctor_tells_a_forced_form_that_cannot_be_made(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVEREAGER_SHIM", "cc")
    monkeypatch.setenv("PATH", str(cache))
    shim, check = doctor.check_shim(cache, choose_identity())
    assert (shim, check.ok) == (None, False)
    assert "AUD021" in check.found


def test_doctor_tells_a_docker_client_without_a_daemon(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = cache / "docker"
    client.write_text("#!/bin/sh\nexit 1\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(cache))
    assert doctor.check_docker().ok is None
    client.write_text("#!/bin/sh\necho 27.1\n")
    assert doctor.check_docker().ok is True


def test_doctor_tells_that_there_is_no_docker(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(cache))
    assert "no client" in doctor.check_docker().found
