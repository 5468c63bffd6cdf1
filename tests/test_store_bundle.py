"""Bundles: whole or not there, equal for equal content, refused when one bit differs, free of secrets."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import resource
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from overeager.errors import OvereagerError
from overeager.model.bundle import BundleManifest
from overeager.store.bundle import open_bundle, seal

HASH = "0" * 64
MEMBERS = {
    "agent/stdout.jsonl": b'{"type":"text"}\n' * 50,
    "fs/diff.jsonl": b'{"end":0}\n',
    "kernel.jsonl": b"",
}


def manifest(ending: str = "completed", detail: str = "") -> BundleManifest:
    return BundleManifest.model_validate(
        {
            "schema_version": 1,
            "trial": {"scenario": "cleanup-001", "variant": "consent_kept"},
            "attempt": 1,
            "cell": {
                "agent": "scripted", "version": "1", "mode": "bypass", "upstream": "none", "model": "scripted",
                "responder": "nobody", "sandbox": "bubblewrap", "kernel": True,
            },
            "scenario": HASH,
            "stimulus": dict.fromkeys(
                ("prompt", "interaction", "fixture", "launch", "shims", "sandbox", "system", "agent"), HASH
            ),
            "workspace": "/home/user/project-x",
            "home": "/home/user",
            "binary": {"version": "1", "sha256": HASH},
            "plugins": [],
            "started": "2026-01-15T10:00:00Z",
            "timings": {},
            "ending": {"name": ending, "detail": detail},
            "channels": {"fs": {"state": "present"}},
            "canaries": {},
            "members": {},
            "product": "0",
        }
    )  # fmt: skip


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    path = tmp_path / "cleanup-001~consent_kept~r1.1.zip"
    seal(path, manifest(), MEMBERS)
    return path


def refusal(path: Path) -> OvereagerError:
    """The error by which the bundle is refused, when it is opened or when any member is read."""
    with pytest.raises(OvereagerError) as caught:
        open_bundle(path).members()
    assert caught.value.code.startswith("BUN")
    assert path.name in str(caught.value)
    assert caught.value.cure
    return caught.value


@pytest.mark.pure
def test_a_bundle_gives_back_what_was_sealed(sealed: Path, tmp_path: Path) -> None:
    bundle = open_bundle(sealed)
    assert bundle.members() == MEMBERS
    assert bundle.read("fs/diff.jsonl") == MEMBERS["fs/diff.jsonl"]
    assert bundle.manifest.model_copy(update={"members": {}}) == manifest()
    assert list(tmp_path.iterdir()) == [sealed]


@pytest.mark.pure
def test_the_seal_is_the_hash_of_all_before_the_comment(sealed: Path) -> None:
    data = sealed.read_bytes()
    with zipfile.ZipFile(sealed) as archive:
        assert archive.comment == data[-64:]
        assert archive.testzip() is None
    assert hashlib.sha256(data[:-64]).hexdigest().encode() == data[-64:]
    assert open_bundle(sealed).seal.encode() == data[-64:]


@pytest.mark.pure
def test_equal_content_gives_equal_bytes(sealed: Path, tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(MEMBERS["agent/stdout.jsonl"])
    streamed: dict[str, bytes | Path] = {**dict(reversed(MEMBERS.items())), "agent/stdout.jsonl": tmp_path / "raw"}
    digest = seal(tmp_path / "again.zip", manifest(), streamed)
    assert (tmp_path / "again.zip").read_bytes() == sealed.read_bytes()
    assert digest == open_bundle(sealed).seal


@pytest.mark.pure
def test_every_changed_bit_is_refused_by_name(sealed: Path) -> None:
    good = sealed.read_bytes()
    named = 0
    for position in range(0, len(good), 7):
        bad = bytearray(good)
        bad[position] ^= 1 << position % 8
        sealed.write_bytes(bad)
        named += "member '" in refusal(sealed).what
    assert named > len(good) // 7 // 4


@pytest.mark.pure
def test_a_bundle_cut_anywhere_is_refused(sealed: Path) -> None:
    good = sealed.read_bytes()
    for length in [*range(0, len(good), 13), len(good) - 1]:
        sealed.write_bytes(good[:length])
        assert refusal(sealed).code in ("BUN002", "BUN003")
    sealed.write_bytes(good + b"x")
    refusal(sealed)


@pytest.mark.pure
def test_what_is_not_there_or_no_bundle_is_told_apart(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.zip").code == "BUN001"
    (tmp_path / "folder.zip").mkdir()
    assert refusal(tmp_path / "folder.zip").code == "BUN001"
    (tmp_path / "text.zip").write_text("no zip" * 100)
    assert refusal(tmp_path / "text.zip").code == "BUN002"


def forge(path: Path, members: dict[str, bytes], manifest_bytes: bytes | None = None) -> Path:
    """A zip with a right seal, whatever is in it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        if manifest_bytes is not None:
            archive.writestr("manifest.json", manifest_bytes)
        archive.comment = b"0" * 64
    data = path.read_bytes()[:-64]
    path.write_bytes(data + hashlib.sha256(data).hexdigest().encode())
    return path


def manifest_of(path: Path) -> dict[str, object]:
    with zipfile.ZipFile(path) as archive:
        loaded: dict[str, object] = json.loads(archive.read("manifest.json"))
    return loaded


@pytest.mark.pure
def test_another_schema_version_is_told(sealed: Path, tmp_path: Path) -> None:
    other = {**manifest_of(sealed), "schema_version": 7}
    error = refusal(forge(tmp_path / "other.zip", {}, json.dumps(other).encode()))
    assert error.code == "BUN004"
    assert "7" in error.what


@pytest.mark.pure
@pytest.mark.parametrize("content", [None, b"", b"[]", b"{", b'{"schema_version": 1}', b'"x"'])
def test_a_manifest_that_says_nothing_is_refused(content: bytes | None, tmp_path: Path) -> None:
    assert refusal(forge(tmp_path / "odd.zip", {}, content)).code in ("BUN004", "BUN006")


@pytest.mark.pure
def test_a_member_that_is_missing_added_or_exchanged_is_refused_though_the_seal_is_right(
    sealed: Path, tmp_path: Path
) -> None:
    raw = json.dumps(manifest_of(sealed)).encode()
    whole = dict(MEMBERS)
    less = {name: data for name, data in whole.items() if name != "fs/diff.jsonl"}
    error = refusal(forge(tmp_path / "less.zip", less, raw))
    assert (error.code, "fs/diff.jsonl" in error.what) == ("BUN006", True)
    assert refusal(forge(tmp_path / "more.zip", {**whole, "extra": b""}, raw)).code == "BUN006"
    error = refusal(forge(tmp_path / "other.zip", {**whole, "fs/diff.jsonl": b'{"end":1}\n'}, raw))
    assert (error.code, "fs/diff.jsonl" in error.what) == ("BUN003", True)


@pytest.mark.pure
def test_a_member_that_unpacks_to_more_than_the_manifest_says_is_refused_unread(sealed: Path, tmp_path: Path) -> None:
    whole = dict(MEMBERS)
    bomb = forge(
        tmp_path / "bomb.zip", {**whole, "kernel.jsonl": bytes(200 << 20)}, json.dumps(manifest_of(sealed)).encode()
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = refusal(bomb)
    assert "kernel.jsonl" in error.what
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 << 10


@pytest.mark.pure
def test_a_member_that_was_never_recorded_is_told_by_name(sealed: Path) -> None:
    with pytest.raises(OvereagerError, match=r"BUN005.*shim\.jsonl"):
        open_bundle(sealed).read("shim.jsonl")


@pytest.mark.pure
def test_a_sealed_bundle_is_never_written_again(sealed: Path) -> None:
    before = sealed.read_bytes()
    with pytest.raises(OvereagerError, match="STO023"):
        seal(sealed, manifest(), {})
    assert sealed.read_bytes() == before


@pytest.mark.pure
def test_a_draft_of_a_dead_runner_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / ".a.zip.part").write_text("half")
    seal(tmp_path / "a.zip", manifest(), MEMBERS)
    assert list(tmp_path.iterdir()) == [tmp_path / "a.zip"]


@pytest.mark.pure
def test_a_folder_that_is_gone_is_a_coded_error(tmp_path: Path) -> None:
    with pytest.raises(OvereagerError, match="STO022"):
        seal(tmp_path / "none" / "a.zip", manifest(), MEMBERS)


@pytest.mark.pure
@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "nothing"])
def test_a_member_that_is_no_regular_file_is_not_opened(kind: str, tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    if kind == "link":
        odd.symlink_to("/etc/hostname")
    elif kind == "fifo":
        os.mkfifo(odd)
    elif kind == "folder":
        odd.mkdir()
    with pytest.raises(OvereagerError, match="STO022"):
        seal(tmp_path / "a.zip", manifest(), {"agent/session.jsonl": odd})
    assert not (tmp_path / "a.zip").exists()
    assert not (tmp_path / ".a.zip.part").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder that takes 64 KiB: a file system of that size, or, without privilege, a limit on files."""
    if os.getuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path)], check=True)
        yield tmp_path
        subprocess.run(["umount", str(tmp_path)], check=True)
    else:
        yield tmp_path


@pytest.mark.parametrize("limited", [True, False])
def test_a_full_disk_leaves_nothing_half_sealed(limited: bool, small_disk: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limited or os.getuid() != 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 10, limits[1]))
    try:
        with pytest.raises(OvereagerError, match="STO021") as caught:
            seal(small_disk / "a.zip", manifest(), {"agent/stdout.jsonl": os.urandom(200 << 10)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno in (errno.ENOSPC, errno.EFBIG)
    assert list(small_disk.iterdir()) == []


SECRET = b'sk-ant-"x\\y/z+\xc3\xbc-0123456789abcdef'


def forms() -> dict[str, bytes]:
    text = SECRET.decode()
    return {
        "plain": SECRET,
        "json": json.dumps({"key": text}).encode(),
        "json, not ascii": json.dumps({"key": text}, ensure_ascii=False).encode(),
        "json in json": json.dumps(json.dumps({"key": text})).encode(),
        "url": quote(text, safe="").encode(),
        "url, small letters": quote(text, safe="").lower().encode(),
        "path": quote(text).encode(),
        "hexadecimal": SECRET.hex().encode(),
        "base64": base64.b64encode(SECRET),
        "basic authentication": base64.b64encode(b"user:" + SECRET),
        "base64, one later": base64.b64encode(b"a" + SECRET + b"tail"),
        "base64 for addresses": base64.urlsafe_b64encode(b"ab" + SECRET),
    }


@pytest.mark.pure
@pytest.mark.parametrize("form", forms())
def test_a_secret_is_taken_out_in_every_form(form: str, tmp_path: Path) -> None:
    value = forms()[form]
    (tmp_path / "raw").write_bytes(b"before " + value + b" after\n")
    members: dict[str, bytes | Path] = {
        "agent/stdout.jsonl": b"before " + value + b" after\n",
        "agent/stderr.txt": tmp_path / "raw",
    }
    seal(tmp_path / "a.zip", manifest(), members, redact=(SECRET, b""))
    read = open_bundle(tmp_path / "a.zip").members()
    for data in read.values():
        assert data.startswith(b"before ")
        assert data.endswith(b" after\n")
        assert b"[redacted]" in data
        assert b"0123456789" not in data
        assert SECRET[-9:].hex().encode() not in data
        assert not any(base64.b64encode(bytes(offset) + SECRET)[8:-8] in data for offset in range(3))


@pytest.mark.pure
def test_a_secret_across_two_pieces_of_a_stream_is_taken_out(tmp_path: Path) -> None:
    for offset in range(-len(SECRET), 1, 5):
        filler = b"." * ((1 << 20) + offset)
        (tmp_path / "raw").write_bytes(filler + SECRET + b"rest")
        path = tmp_path / f"{-offset}.zip"
        seal(path, manifest(), {"agent/stdout.jsonl": tmp_path / "raw"}, redact=(SECRET,))
        assert open_bundle(path).read("agent/stdout.jsonl") == filler + b"[redacted]rest"


@pytest.mark.pure
def test_a_secret_in_the_manifest_is_taken_out(tmp_path: Path) -> None:
    seal(tmp_path / "a.zip", manifest(detail="login failed with token-123456"), {}, redact=(b"token-123456",))
    assert open_bundle(tmp_path / "a.zip").manifest.ending.detail == "login failed with [redacted]"


@pytest.mark.pure
def test_base64_without_the_secret_stays(tmp_path: Path) -> None:
    data = base64.b64encode(os.urandom(3000))
    seal(tmp_path / "a.zip", manifest(), {"agent/x": data}, redact=(SECRET,))
    assert open_bundle(tmp_path / "a.zip").read("agent/x") == data
