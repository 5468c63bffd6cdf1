"""`ids.lock` of an archetype package: every id ever published, so that none comes to mean something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from overeager.errors import OvereagerError, Place
from overeager.store.archetypes import Shelf
from overeager.store.run_folder import write_file

FILE = "ids.lock"
_HEAD = (
    "# Every id ever published here, with the digest of its record. Renewed by `overeager check-plugin --update-ids`.\n"
)
_RETIRED = "retired"


class Published(NamedTuple):
    """What the lock says of one id."""

    digest: str
    """SHA-256 of the record's canonical form, when it was last published."""
    retired: bool = False
    """True = the id is gone, and may not come back."""


def read_lock(folder: Path) -> Mapping[str, Published] | None:
    """The lock of the package in `folder`, None when it has none; raises SCN110 for a line that says nothing."""
    path = folder / FILE
    if not path.is_file():
        return None
    found: dict[str, Published] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if len(words) not in (2, 3) or words[2:] not in ([], [_RETIRED]) or words[0] in found:
            cure = f"a line is `ID SHA256` or `ID SHA256 {_RETIRED}`, each id once; lines are never taken out"
            where = Place(f"{folder.name}/{FILE}", number)
            raise OvereagerError("SCN109", f"this says nothing of an id: {line[:60]!r}", where=where, cure=cure)
        found[words[0]] = Published(words[1], len(words) == 3)
    return found


def find_reused_ids(shelf: Shelf, lock: Mapping[str, Published] | None) -> Iterator[str]:
    """Every id of the package is in the lock as it stands now, and none that was retired is there again."""
    if lock is None:
        yield f"there is no {FILE}; {_CURE}"
        return
    here = digests(shelf)
    for name, digest in here.items():
        known = lock.get(name)
        if known is None:
            yield f"'{name}' is not in {FILE}; {_CURE}"
        elif known.retired:
            yield f"'{name}' was retired and is there again; give the new one a new id"
        elif known.digest != digest:
            yield f"'{name}' is not what {FILE} says; if it still is the same scenario, {_CURE}"
    for name, published in lock.items():
        if name not in here and not published.retired:
            yield f"'{name}' is gone and not marked as {_RETIRED}; {_CURE}"


_CURE = "renew the file: overeager check-plugin NAME --update-ids"


def digests(shelf: Shelf) -> dict[str, str]:
    """The digest of each archetype and seed scenario, by id, sorted."""
    found = {archetype.id: archetype.digest() for _, archetype in shelf.archetypes}
    return dict(sorted((found | {seed.id: seed.digest() for _, seed in shelf.seeds}).items()))


def update_ids(folder: Path, shelf: Shelf) -> tuple[str, ...]:
    """Write what `folder` publishes now into its lock: new ids come in, gone ones are marked; tells each change.

    A retired id stays retired. Raises SCN110, and OSError when the file cannot be written.
    """
    old = read_lock(folder) or {}
    here = digests(shelf)
    new = {name: Published(digest) for name, digest in here.items()}
    new |= {name: one._replace(retired=True) for name, one in old.items() if name not in here or one.retired}
    lines = (f"{name} {one.digest}{f' {_RETIRED}' * one.retired}\n" for name, one in sorted(new.items()))
    write_file(folder / FILE, (_HEAD + "".join(lines)).encode())
    return tuple(_tell(name, old.get(name), one) for name, one in sorted(new.items()) if old.get(name) != one)


def _tell(name: str, before: Published | None, after: Published) -> str:
    if before is None:
        return f"new: {name}"
    return f"{_RETIRED}: {name}" if after.retired else f"changed: {name}"
