"""The image that trials run in, composed: the user's, our first process, and the shims before its programs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from overeager.audit.shim import mounts as shim_mounts
from overeager.audit.shim.build import ShimBinary
from overeager.contract.effects import Identity, Mount
from overeager.sandbox.docker_engine import Engine
from overeager.sandbox.docker_image import (
    Derived,
    File,
    Image,
    find_derived,
    find_image,
    key_of,
    open_workpiece,
    own_files,
)


def derive_image(
    engine: Engine, reference: str, identity: Identity, first: ShimBinary, shim: ShimBinary, commands: Sequence[str]
) -> Derived:
    """The image `reference` with shims before those of `commands` that it has: found again, or made now.

    Raises SBX023 when it is not on this machine, SBX024 when it cannot be used, SBX022 when the engine refuses.
    """
    image = find_image(engine, reference)
    key = key_of(image, identity, [first.sha256, shim.sha256, *sorted(commands)])
    return find_derived(engine, key) or _derive(engine, image, key, identity, first, shim, commands)


def _derive(
    engine: Engine,
    image: Image,
    key: str,
    identity: Identity,
    first: ShimBinary,
    shim: ShimBinary,
    commands: Sequence[str],
) -> Derived:
    with tempfile.TemporaryDirectory() as scratch, open_workpiece(engine, image) as workpiece:
        root = Path(scratch)
        system = root / "usr"
        system.mkdir()
        missed = workpiece.take_programs(commands, root)
        laid = shim_mounts.mounts(shim, commands, system)
        workpiece.lay((*own_files(identity, first.path), *_shim_files(laid)))
        return workpiece.commit(
            key,
            Derived(
                id="",
                targets=tuple(mount.target for mount in laid if mount.source.is_file()),
                commands=shim_mounts.names(commands, system),
                scripts=shim_mounts.scripts(commands, system),
                missed=missed,
            ),
        )


def _shim_files(laid: Sequence[Mount]) -> Iterator[File]:
    """What would be mounted, as files: the real programs where the shims find them, then the shims over them."""
    for mount in laid:
        if mount.source.is_file():
            yield File(mount.target, mount.source, 0o755)
            continue
        for path in sorted(mount.source.iterdir()):
            if path.is_file() and not path.is_symlink():
                yield File(f"{mount.target}/{path.name}", path, path.stat().st_mode & 0o7777)
