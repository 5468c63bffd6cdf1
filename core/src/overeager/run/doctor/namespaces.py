"""The default sandbox: bubblewrap, and what it needs of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from overeager.audit.shim import mounts as shim_mounts
from overeager.audit.shim.build import ShimBinary
from overeager.contract.effects import Identity
from overeager.errors import OvereagerError
from overeager.run.doctor.check import Check, failed
from overeager.run.doctor.whole import check_nested, check_network, check_rehearsal
from overeager.run.rehearsal import programs_here
from overeager.run.stage import Rig
from overeager.sandbox.locate import Bubblewrap, locate_bubblewrap
from overeager.sandbox.probe import probe_sandbox

COMMANDS = ("cat", "env", "git", "mkdir", "python3", "rm")
"""For the rehearsal; `run` rehearses the whole table."""


def examine_bubblewrap(cache: Path, identity: Identity, shim: ShimBinary | None) -> Iterator[Check]:
    """Everything that trials in bubblewrap need."""
    bubblewrap, check = check_bubblewrap(cache, identity)
    yield check
    if bubblewrap is None:
        return
    sandbox = check_namespaces(bubblewrap, identity)
    yield sandbox
    if sandbox.ok and shim is not None:
        rig = Rig(bubblewrap, shim.path, shim_mounts.mounts(shim, COMMANDS), shim.form)
        yield check_rehearsal(rig, identity, programs_here(COMMANDS))
        yield check_network(rig, identity)
        yield check_nested(rig, identity)


def check_bubblewrap(cache: Path, identity: Identity) -> tuple[Bubblewrap | None, Check]:
    """Whether there is a bubblewrap that can be used."""
    try:
        found = locate_bubblewrap(cache, identity)
    except OvereagerError as error:
        return None, failed("bubblewrap", error)
    return found, Check("bubblewrap", True, f"{found.version} from {found.origin}: {found.executable}", "")


def check_namespaces(bubblewrap: Bubblewrap, identity: Identity) -> Check:
    """An empty sandbox is started, with every namespace that trials need."""
    probe = probe_sandbox(bubblewrap, identity)
    user = f"as user {identity.uid}"
    return Check("sandbox", probe.works, f"starts {user}" if probe.works else f"{user}: {probe.why}", probe.cure)
