"""What works on this machine, each thing really tried, and how to mend what does not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from overeager.errors import OvereagerError
from overeager.run.doctor.check import Check, failed
from overeager.run.doctor.containers import check_engine, examine_containers
from overeager.run.doctor.kernel import check_form, check_kernel_channel, check_pace, check_tracing
from overeager.run.doctor.machine import check_cache, check_disk, check_git, check_npm, check_python, check_rooms
from overeager.run.doctor.namespaces import check_bubblewrap, check_namespaces, examine_bubblewrap
from overeager.run.doctor.shims import check_shim
from overeager.run.doctor.whole import check_nested, check_network, check_rehearsal
from overeager.run.sandbox_choice import BUBBLEWRAP, image_of
from overeager.sandbox.identity import choose_identity

__all__ = [
    "Check",
    "check_bubblewrap",
    "check_cache",
    "check_disk",
    "check_engine",
    "check_form",
    "check_git",
    "check_kernel_channel",
    "check_namespaces",
    "check_nested",
    "check_network",
    "check_npm",
    "check_pace",
    "check_python",
    "check_rehearsal",
    "check_rooms",
    "check_shim",
    "check_tracing",
    "examine",
]


def examine(cache: Path, sandbox: str = BUBBLEWRAP, environment: Mapping[str, str] = os.environ) -> tuple[Check, ...]:
    """Every check that trials in `sandbox` rest on, in the order in which one rests on the other.

    Nothing is left behind but the cache's own entries. Call it in the main thread of a process without other threads.
    """
    return tuple(_examine(cache, sandbox, environment))


def _examine(cache: Path, sandbox: str, environment: Mapping[str, str]) -> Iterator[Check]:
    yield check_python()
    try:
        identity = choose_identity()
    except OvereagerError as error:
        yield failed("user", error)
        return
    yield check_cache(cache, identity)
    yield check_rooms(identity)
    yield check_disk(identity)
    shim, check = check_shim(cache, identity)
    yield check
    yield check_kernel_channel()
    yield check_pace()
    yield check_form(cache)
    contained = sandbox != BUBBLEWRAP
    yield check_tracing(contained)
    if contained:
        yield from examine_containers(cache, identity, shim, image_of(sandbox), environment)
    else:
        yield from examine_bubblewrap(cache, identity, shim)
        yield check_engine(environment)
    yield check_git()
    yield check_npm()
