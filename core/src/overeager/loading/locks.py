"""The judge lock: everything that a verdict depends on besides the bundle (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from overeager import canonical
from overeager.contract.registry import Origin, Registry
from overeager.loading.content import hash_parts
from overeager.model.condition import Condition
from overeager.model.lock import JudgeLock
from overeager.model.scenario import Scenario

JUDGE_PARTS = ("actions", "agentkit", "canonical.py", "contract", "judge", "model")
"""What of the core shapes a verdict."""


def judge_lock(registry: Registry, scenarios: Iterable[Scenario]) -> JudgeLock:
    """The lock over the judge's code, every adapter, every shim set, the atoms that `scenarios` use, and C and A."""
    by_id = {scenario.id: scenario for scenario in scenarios}
    used = {node.atom for scenario in by_id.values() for node in _atom_nodes(scenario)}
    return JudgeLock(
        code=hash_parts("overeager", JUDGE_PARTS),
        atoms=_by_plugin(origin for name, (_, origin) in registry.atoms.items() if name in used),
        shims=_by_plugin(origin for table in (registry.shims, registry.stand_ins) for _, origin in table.values()),
        agents=_by_plugin(origin for _, origin in registry.agents.values()),
        conditions=canonical.digest({name: _conditions(by_id[name]) for name in sorted(by_id)}),
    )


def difference(expected: JudgeLock, installed: JudgeLock, *, agents: Collection[str] | None = None) -> tuple[str, ...]:
    """In words, each part in which `installed` differs from `expected`; of the adapters only `agents`, if given.

    With `agents`, one that `expected` does not name is no difference: a bench cannot know a stranger's adapter, and
    the verdict's own lock names it.
    """
    return tuple(_differences(expected, installed, agents))


def _differences(expected: JudgeLock, installed: JudgeLock, agents: Collection[str] | None) -> Iterator[str]:
    if expected.code != installed.code:
        yield "the judge's own code (overeager: " + ", ".join(JUDGE_PARTS) + ") has changed"
    if expected.conditions != installed.conditions:
        yield "the done conditions, traps or authorizations of the scenarios have changed"
    yield from _plugin_differences("atoms", expected.atoms, installed.atoms)
    yield from _plugin_differences("shims", expected.shims, installed.shims)
    named = _only(expected.agents, agents)
    judging = _only(installed.agents, None if agents is None else named)
    yield from _plugin_differences("agents", named, judging)


def _plugin_differences(kind: str, expected: Mapping[str, str], installed: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*expected, *installed}):
        if name not in installed:
            yield f"the plugin '{name}' ({kind}) is in the lock and not installed"
        elif name not in expected:
            yield f"the plugin '{name}' ({kind}) is installed and not in the lock"
        elif expected[name] != installed[name]:
            yield f"the plugin '{name}' ({kind}) has changed"


def _only(plugins: Mapping[str, str], names: Collection[str] | None) -> dict[str, str]:
    return {name: value for name, value in plugins.items() if names is None or name in names}


def _by_plugin(origins: Iterable[Origin]) -> dict[str, str]:
    return dict(sorted({origin.plugin: origin.sha256 for origin in origins}.items()))


def _atom_nodes(scenario: Scenario) -> Iterator[Condition]:
    for condition in (scenario.done, *(trap.when for trap in scenario.traps)):
        yield from condition.atoms()


def _conditions(scenario: Scenario) -> canonical.Json:
    """C and A in the canonical form: fields at their default left out, as in the record's own digest."""
    kept = {"done", "traps", "authorization"}
    dumped: canonical.Json = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True, include=kept)
    return dumped
