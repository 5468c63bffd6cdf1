"""Sessions of an agent in the sandbox, made when a check asks for them and kept for the next."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from overeager.actions.assemble import gather
from overeager.actions.evidence import BundleEvidence
from overeager.conformance.agents.tour import ENDLESS, GATED, STEPS, make_scenario
from overeager.conformance.check import Unavailable
from overeager.contract.agent import AgentAdapter
from overeager.contract.registry import Origin, Registry
from overeager.errors import OvereagerError
from overeager.loading.content import hash_module
from overeager.loading.discover import Found
from overeager.loading.installs import find_clis
from overeager.loading.locks import judge_lock
from overeager.loading.registry import load_registry
from overeager.model.bundle import BundleManifest, Cell
from overeager.model.persona import Step
from overeager.model.vocabulary import PersonaName
from overeager.run.plan import Choice
from overeager.run.session import Session
from overeager.run.shimmed import shimmed_commands
from overeager.run.tools import open_shelf, probe_here
from overeager.store import run_folder
from overeager.store.bench import build_bench

PATIENCE = 15
"""Seconds of a session that is meant to be cut off: enough for a slow start, so that it has begun what it is cut in."""

_SHORT_PATIENCE = 6
"""For an agent that has no vendor's CLI to start."""

_SPOKEN = ("anthropic-messages",)
"""Wire APIs that the gateway speaks."""


class Trial(NamedTuple):
    """One sealed session."""

    version: str
    mode: str
    steps: tuple[Step, ...]
    manifest: BundleManifest
    members: Mapping[str, bytes]
    streams: Mapping[str, bytes]
    """As `parse` gets them."""
    evidence: BundleEvidence
    shimmed: frozenset[str]
    """Commands that a shim reports whenever the agent's shell starts them."""


class _Wish(NamedTuple):
    """What is to be played."""

    name: str
    steps: tuple[Step, ...]
    """None are played by a model that only says "done"."""
    version: str
    mode: str
    seconds: int = 120


class Trials:
    """The sessions of one adapter; each method plays on its first call. All raise Unavailable where none can be."""

    def __init__(self, found: Found, adapter: AgentAdapter) -> None:
        self._adapter = adapter
        self._found = found
        self._play = cache(self._play_now)

    @property
    def takes_orders(self) -> bool:
        """Whether it does what a persona or a model says."""
        return self._adapter.wire_api is not None or self._adapter.plays_personas

    def tours(self) -> tuple[Trial, ...]:
        """The tour in the first mode, by each installed version that was tested."""
        self._check_takes_orders()
        return tuple(self._play(_Wish("tour", STEPS, one, self._mode)) for one in self._versions())

    def gated(self) -> tuple[Trial, ...]:
        """What gates may stop, in each mode of the first such version."""
        self._check_takes_orders()
        first = self._versions()[0]
        return tuple(self._play(_Wish("gates", GATED, first, mode.id)) for mode in self._adapter.modes)

    def cut_off(self) -> Trial:
        """A session that the time limit ended."""
        self._check_takes_orders()
        seconds = _SHORT_PATIENCE if self._adapter.vendor is None else PATIENCE
        return self._play(_Wish("endless", ENDLESS, self._versions()[0], self._mode, seconds))

    def any_sessions(self) -> tuple[Trial, ...]:
        """The tours or, of an agent that takes no orders, sessions in which it does what it always does."""
        return self.tours() if self.takes_orders else self._idle()

    def nulls(self) -> tuple[Trial, ...]:
        """A session in which nothing is asked of the agent, by each installed version that was tested."""
        self._check_takes_orders()
        return self._idle()

    def _idle(self) -> tuple[Trial, ...]:
        self._check_wire()
        return tuple(self._play(_Wish("null", (), one, self._mode)) for one in self._versions())

    @property
    def _mode(self) -> str:
        return self._adapter.modes[0].id

    def _check_takes_orders(self) -> None:
        if not self.takes_orders:
            raise Unavailable(
                "an agent that speaks to no model and plays no personas cannot be told what to do: declare `wire_api`"
            )
        self._check_wire()

    def _check_wire(self) -> None:
        api = self._adapter.wire_api
        if api is not None and api not in _SPOKEN:
            raise Unavailable(f"the gateway does not speak {api} yet")

    def _versions(self) -> tuple[str, ...]:
        """The tested ones that are installed; an agent without a CLI has one."""
        adapter = self._adapter
        if adapter.vendor is None:
            return (version("overeager"),)
        with _about_this_machine():
            clis = find_clis(adapter, open_shelf(os.environ).root)
        here = tuple(one.version for one in clis if one.installed and one.tested)
        if not here:
            raise Unavailable(f"its CLI is not installed: overeager agents install {adapter.id}")
        return here

    def _play_now(self, wish: _Wish) -> Trial:
        if problem := probe_here(os.environ):
            raise Unavailable(f"it is played in the sandbox, and none works here: {problem}")
        registry = _registry(self._found, self._adapter)
        with TemporaryDirectory(prefix="play-") as scratch:
            return _execute(wish, self._adapter, registry, Path(scratch))


@contextmanager
def _about_this_machine() -> Iterator[None]:
    """What is refused before anything of the plugin is called is no fault of it."""
    try:
        yield
    except OvereagerError as error:
        raise Unavailable(f"no session can be played here: {error}") from error


def _registry(found: Found, adapter: AgentAdapter) -> Registry:
    """The installed shims, and the adapter under check whether it is installed or not."""
    origin = Origin(found.group, found.name, found.distribution, found.version, hash_module(found.module))
    return load_registry(("overeager.shims",))._replace(agents={adapter.id: (adapter, origin)})


def _execute(wish: _Wish, adapter: AgentAdapter, registry: Registry, folder: Path) -> Trial:
    scenario = make_scenario(f"{wish.name}-001", wish.steps, wish.seconds)
    bench = build_bench("play", "For a check", [(scenario.id, scenario)], judge_lock(registry, ()), folder / "play")
    where = (bench, folder / "play", folder / "run")
    with _about_this_machine():
        session = Session.prepare(*where, _choice(wish, adapter), registry, os.environ, shims=True, resume=False)
    session.execute(1, lambda outcome, name: None)
    sealed = run_folder.sealed_attempts(run_folder.open_run(folder / "run"))
    if not sealed:
        raise RuntimeError(f"the session '{wish.name}' of {wish.version} left no bundle")
    opened = run_folder.open_attempt(sealed[-1])
    members, manifest = opened.members(), opened.manifest
    rules = {command: rule for command, (rule, _) in registry.shims.items()}
    return Trial(
        version=wish.version,
        mode=wish.mode,
        steps=wish.steps,
        manifest=manifest,
        members=members,
        streams={name: members[member] for name, member in manifest.streams.items() if member in members},
        evidence=gather(members, manifest, adapter, rules),
        shimmed=frozenset(shimmed_commands(registry)) - frozenset(_functions(adapter, wish.version)),
    )


def _functions(adapter: AgentAdapter, version: str) -> Iterator[str]:
    """What the agent's shell replaces by functions of its own."""
    for release in adapter.vendor.releases if adapter.vendor else ():
        if release.version == version:
            yield from release.functions


def _choice(wish: _Wish, adapter: AgentAdapter) -> Choice:
    personas: Sequence[PersonaName] = ("moderate",) if wish.steps else ()
    cell = Cell(
        agent=adapter.id,
        version=wish.version,
        mode=wish.mode,
        upstream="persona" if wish.steps else "null",
        model="scripted" if adapter.wire_api is None else "claude-sonnet-4-6",
        responder="nobody",
        sandbox="bubblewrap",
        kernel=True,
    )
    return Choice(cell=cell, variants=("consent_stripped",), personas=tuple(personas), repeats=1, attempts=2)
