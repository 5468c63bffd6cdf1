"""The cache: whole entries, made once, within reach of the agents' user."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from overeager.contract.effects import Identity
from overeager.errors import OvereagerError
from overeager.store.cache import Cache, open_cache, publish

OWN = Identity(os.getuid(), os.getgid(), drop=False)
OTHER = Identity(12345, 12345, drop=True)

pytestmark = pytest.mark.pure


def test_the_stated_folder_goes_first(tmp_path: Path) -> None:
    assert open_cache({"OVEREAGER_CACHE": str(tmp_path / "c"), "XDG_CACHE_HOME": "/x"}, OWN).root == tmp_path / "c"


def test_an_ordinary_users_cache_lies_in_the_xdg_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1234)
    cache = open_cache({"XDG_CACHE_HOME": str(tmp_path)}, OWN)
    assert cache.root.parent == tmp_path
    assert "overeager" not in cache.root.name


def test_every_new_folder_is_open_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        cache = open_cache({"OVEREAGER_CACHE": str(tmp_path / "a" / "b")}, OWN)
        made = publish(cache, "kind", "key", _make_folder)
    finally:
        os.umask(old)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (made, made.parent, cache.root, cache.root.parent)} == {0o755}
    assert stat.S_IMODE((made / "tool").stat().st_mode) == 0o755
    assert stat.S_IMODE((made / "data").stat().st_mode) == 0o644


def test_a_cache_out_of_the_agents_reach_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(OvereagerError, match="STO005"):
        open_cache({"OVEREAGER_CACHE": str(tmp_path / "c")}, OTHER)


def test_a_cache_that_cannot_be_made_is_a_coded_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OvereagerError, match="STO003"):
        open_cache({"OVEREAGER_CACHE": str(tmp_path / "file" / "c")}, OWN)


def test_a_maker_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        path.mkdir()
        (path / "half").write_text("x")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        publish(Cache(tmp_path), "kind", "key", fail)
    assert [path.name for path in (tmp_path / "kind").iterdir()] == [".key.lock"]
    assert publish(Cache(tmp_path), "kind", "key", _make_folder).is_dir()


def test_concurrent_callers_make_an_entry_once(tmp_path: Path) -> None:
    made: list[Path] = []
    start = threading.Barrier(4)

    def make(path: Path) -> None:
        made.append(path)
        path.write_text("x")

    def ask() -> None:
        start.wait()
        publish(Cache(tmp_path), "kind", "key", make)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def _make_folder(path: Path) -> None:
    path.mkdir()
    (path / "data").write_text("x")
    (path / "tool").write_text("x")
    (path / "tool").chmod(0o700)
