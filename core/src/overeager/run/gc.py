"""What runs that were ended by force have left: found everywhere, and removed when nobody who lives owns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from overeager.contract.leftovers import Leftover
from overeager.errors import OvereagerError
from overeager.sandbox import docker_leftovers
from overeager.sandbox.docker_engine import Engine, open_engine
from overeager.sandbox.identity import choose_identity
from overeager.store import leftovers
from overeager.store.cache import Cache, open_cache


class Collected(NamedTuple):
    """What came of it."""

    removed: tuple[Leftover, ...]
    """On a dry run, what would be."""
    kept: tuple[Leftover, ...]
    """What somebody uses after all."""
    engine: str
    """Why containers were not looked for; empty = they were."""
    dry_run: bool

    @property
    def size(self) -> int:
        """Bytes that were given back."""
        return sum(one.size for one in self.removed)


def collect(environment: Mapping[str, str], runs: Sequence[Path], *, images: bool, dry_run: bool) -> Collected:
    """Remove the rooms, drafts and containers that nobody owns, with `images` the derived images that no run uses too.

    `runs` are folders of runs. Raises STO002 when something of ours cannot be removed.
    """
    identity = choose_identity()
    cache = open_cache(environment, identity)
    try:
        engine, silence = open_engine(environment), ""
    except OvereagerError as error:
        engine, silence = None, error.what
    containers = docker_leftovers.find_containers(engine) if engine else ()
    rooms, drafts = leftovers.find_rooms(identity), (*leftovers.find_drafts(runs), *leftovers.find_cache_drafts(cache))
    if not dry_run:
        # Containers first: those that still run have the rooms mounted.
        for container in containers if engine else ():
            docker_leftovers.remove_container(engine, container.name)  # type: ignore[arg-type]  # there is one
        leftovers.remove_rooms(identity)
        for draft in drafts:
            leftovers.remove_draft(draft)
    gone, kept = _images(engine, cache, dry_run) if engine and images else ((), ())
    return Collected((*containers, *rooms, *drafts, *gone), kept, silence, dry_run)


def _images(engine: Engine, cache: Cache, dry_run: bool) -> tuple[tuple[Leftover, ...], tuple[Leftover, ...]]:
    """Removed and kept ones; while a run lives that uses the engine, all are kept."""
    found = tuple(image for _, image in docker_leftovers.find_images(engine))
    with leftovers.not_held(cache, engine.id) as free:
        if not free:
            return (), found
        if dry_run:
            return found, ()
        gone = tuple(image for image in found if docker_leftovers.remove_image(engine, image.name))
    return gone, tuple(image for image in found if image not in gone)
