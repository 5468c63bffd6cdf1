from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from overeager.audit.shim import build as shim_build
from overeager.audit.shim import mounts as shim_mounts
from overeager.run import doctor
from overeager.run.container import ContainerRig
from overeager.run.doctor import containers, kernel, machine
from overeager.run.doctor.check import within
from overeager.run.rehearsal import programs_here, rehearse
from overeager.run.stage import Rig
from overeager.sandbox.docker_engine import Engine
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import locate_bubblewrap
from sandbox_kit import become, in_child


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
    assert {
        "python", "cache", "temporary folder", "temporary folder's pace", "shims", "kernel channel",
        "kernel channel's pace", "kernel channel's form", "looking into processes", "bubblewrap", "sandbox",
        "rehearsal", "network", "an agent's own sandbox", "docker", "git", "npm",
    } == {check.name for check in checks}  # fmt: skip


@pytest.mark.sandbox
def test_rehearsal_names_a_shim_that_is_not_in_its_place(cache: Path) -> None:
    identity = choose_identity()
    shim = shim_build.build(cache)
    laid = [mount for mount in shim_mounts.mounts(shim, ["cat", "rm"]) if mount.target != "/usr/bin/rm"]
    rig = Rig(locate_bubblewrap(cache, identity), shim.path, tuple(laid), shim.form)
    coverage = rehearse(rig, identity, programs_here(["cat", "rm"])).coverage
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


def test_doctor_tells_that_no_engine_answers(cache: Path) -> None:
    check = doctor.check_engine({"DOCKER_HOST": f"unix://{cache}/s"})
    assert (check.ok, "SBX020" in check.found, "docker.io" in check.cure) == (None, True, True)


def test_doctor_tells_a_daemon_that_does_not_answer(cache: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(cache / "s"))
        check = doctor.check_engine({"DOCKER_HOST": f"unix://{cache}/s"})
    assert (check.ok, "systemctl start docker" in check.cure) == (None, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what others may not speak to")
def test_doctor_tells_a_user_who_may_not_speak_to_the_engine(cache: Path) -> None:
    with socket.socket(socket.AF_UNIX) as closed:
        closed.bind(str(cache / "s"))
        (cache / "s").chmod(0o600)

        def look() -> doctor.Check:
            become("ordinary")
            return doctor.check_engine({"DOCKER_HOST": f"unix://{cache}/s"})

        check = in_child(look)
    assert "usermod -aG docker" in check.cure


def test_doctor_tells_an_engine_beyond_this_machine() -> None:
    assert "SBX021" in doctor.check_engine({"DOCKER_HOST": "tcp://far:2375"}).found


@pytest.mark.parametrize(
    ("scope", "root", "contained", "ok", "cure"),
    [
        ("0", False, True, True, ""),
        ("1", False, False, True, ""),
        ("1", False, True, None, "kernel.yama.ptrace_scope=0, or run as root"),
        ("1", True, True, True, ""),
        ("2", False, False, None, "kernel.yama.ptrace_scope=1"),
        ("3", True, False, None, "reboot"),
    ],
)
def test_doctor_tells_what_yama_keeps_from_us(
    cache: Path, monkeypatch: pytest.MonkeyPatch, scope: str, root: bool, contained: bool, ok: bool | None, cure: str
) -> None:
    (cache / "scope").write_text(f"{scope}\n")
    monkeypatch.setattr(kernel, "_TRACING", cache / "scope")
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    check = doctor.check_tracing(contained)
    assert (check.ok, check.cure.endswith(cure)) == (ok, True)


def test_doctor_tells_a_slow_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_SLOW", 0.0)
    check = doctor.check_disk(choose_identity())
    assert (check.ok, "TMPDIR" in check.cure) == (None, True)


def test_doctor_tells_that_there_is_no_git(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(cache))
    assert (doctor.check_git().ok, doctor.check_git().cure) == (None, "install the package git")


@pytest.mark.parametrize(
    ("cgroups", "cure"), [("1 cgroupfs", "unified_cgroup_hierarchy"), ("2 systemd", "subtree_control")]
)
def test_doctor_tells_limits_that_are_not_kept(monkeypatch: pytest.MonkeyPatch, cgroups: str, cure: str) -> None:
    monkeypatch.setattr(containers, "try_limits", lambda rig, identity: ("memory",))
    engine = Engine("unix:///s", "1.41", "", "", 1, cgroups, ("No memory limit support",), remaps_users=False)
    check = containers.check_limits(ContainerRig(engine, "", Path("/nowhere")), choose_identity())
    assert (check.ok, cure in check.cure) == (None, True)
    assert check.found == "asked for and not kept: memory; No memory limit support"


def test_a_check_that_hangs_comes_to_an_end() -> None:
    with pytest.raises(TimeoutError, match="no end after 1 seconds"), within(1):
        time.sleep(30)


def test_the_form_of_the_kernel_channel_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = kernel.check_form(tmp_path)
    assert (built.ok, built.found.startswith("compiled by ")) == (True, True)
    monkeypatch.setenv("OVEREAGER_KERNEL", "python")
    plain = kernel.check_form(tmp_path)
    assert plain.ok is None
    assert "asked for" in plain.found
    assert "compiler" in plain.cure
