"""Git's refs, read without git: a repository under audit may be anything but honest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from overeager.audit.snapshots.entry import Entry

_VALUE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|ref: [^\x00-\x20\x7f]+")
_INVALID = "invalid"
_REF_LIMIT = 4096
_PACKED_LIMIT = 16 << 20

Read = Callable[[Entry, int], "bytes | None"]
"""(entry, limit) to the file's first bytes, None when it cannot be read."""


class Refs(NamedTuple):
    """All refs of all repositories."""

    values: Mapping[str, str]
    """`<repository>:<ref>` to a commit id, `ref: …`, or `invalid`; sorted."""
    blind: frozenset[str]
    """Repositories some of whose refs could not be read: one that is missing here may be there all the same."""
    problems: tuple[str, ...]
    folders: tuple[str, ...] = ()
    """Of every repository; sorted."""


def read_refs(entries: Mapping[str, Entry], read: Read) -> Refs:
    """The refs of every repository, bare or not, among `entries`: HEAD, loose and packed ones.

    A repository is a folder with HEAD, objects and refs; it is named by its working tree where it is `.git`.
    """
    values: dict[str, str] = {}
    problems: dict[str, list[str]] = {}
    folders = tuple(_repositories(entries))
    for folder in folders:
        name = folder.removesuffix("/.git")
        found, unread = _read_repository(folder, entries, read)
        values |= {f"{name}:{ref}": value for ref, value in found.items()}
        if unread:
            problems[name] = unread
    told = (f"{name}: the refs in {path} could not be read" for name, paths in problems.items() for path in paths)
    return Refs(dict(sorted(values.items())), frozenset(problems), tuple(told), folders)


def repository_of(ref: str) -> str:
    """The repository in `<repository>:<ref>`; a ref's own name never holds a colon."""
    return ref.rpartition(":")[0]


def _read_repository(folder: str, entries: Mapping[str, Entry], read: Read) -> tuple[dict[str, str], list[str]]:
    """The refs of one repository, and the paths that could not be read."""
    values: dict[str, str] = {}
    unread = [path for path, entry in entries.items() if entry.error and path.startswith(f"{folder}/refs")]
    if f"{folder}/reftable" in entries:
        unread.append(f"{folder}/reftable")
    for entry, name in _ref_files(folder, entries):
        data = _link_as_ref(entry) if entry.type == "link" else read(entry, _limit(name))
        if data is None:
            unread.append(entry.path)
        elif name == "packed-refs":
            values |= _packed(data)
        else:
            values[name] = _value(data.decode("utf-8", "replace").strip())
    return values, unread


def _repositories(entries: Mapping[str, Entry]) -> list[str]:
    folders = [path.removesuffix("/HEAD") for path in entries if path.endswith("/HEAD")]
    return sorted(
        folder for folder in folders if all(_is_folder(f"{folder}/{n}", entries) for n in ("objects", "refs"))
    )


def _is_folder(path: str, entries: Mapping[str, Entry]) -> bool:
    return path in entries and entries[path].type == "directory"


def _ref_files(folder: str, entries: Mapping[str, Entry]) -> Iterator[tuple[Entry, str]]:
    """The files that hold refs, with the names of the refs; packed ones first, since loose ones go before them."""
    loose = [path for path in entries if path.startswith(f"{folder}/refs/") and not path.endswith(".lock")]
    for path in (f"{folder}/packed-refs", f"{folder}/HEAD", *sorted(loose)):
        if path in entries and entries[path].type in ("file", "link"):
            yield entries[path], path.removeprefix(f"{folder}/")


def _limit(name: str) -> int:
    return _PACKED_LIMIT if name == "packed-refs" else _REF_LIMIT


def _link_as_ref(entry: Entry) -> bytes:
    """A link is an old way to write a symbolic ref."""
    return f"ref: {entry.target}".encode("utf-8", "surrogateescape")


def _packed(data: bytes) -> dict[str, str]:
    rows = (line.split(" ", 1) for line in data.decode("utf-8", "replace").splitlines() if line[:1] not in ("#", "^"))
    return {row[1].strip(): _value(row[0]) for row in rows if len(row) == 2}


def _value(text: str) -> str:
    return text if _VALUE.fullmatch(text) else _INVALID
