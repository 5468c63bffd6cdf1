"""The programs of ours that are compiled on first use."""

from __future__ import annotations

import shutil
from pathlib import Path

from overeager.audit.shim import build as shim_build
from overeager.audit.shim.build import ShimBinary
from overeager.contract.effects import Identity
from overeager.errors import OvereagerError
from overeager.run.doctor.check import Check, failed, status_of


def check_shim(cache: Path, identity: Identity) -> tuple[ShimBinary | None, Check]:
    """The shim is built and executed by the user that agents run as."""
    try:
        shim = shim_build.build(cache)
    except OvereagerError as error:
        return None, failed("shims", error)
    if status_of([str(shim.path), "/bin/true"], identity) != 0:
        found = f"{shim.path} does not run as user {identity.uid}"
        return None, Check("shims", False, found, "set OVEREAGER_CACHE to a folder that every user may enter")
    if shim.gaps:
        return shim, Check("shims", None, shim.gaps, "install a C compiler, or `pip install ziglang`")
    compiler = "the wheel ziglang" if shim.form == "zig" else shutil.which("cc")
    return shim, Check("shims", True, f"compiled by {compiler}", "")
