"""Which commands get a shim."""

from __future__ import annotations

from overeager.contract.registry import Registry


def shimmed_commands(registry: Registry) -> tuple[str, ...]:
    """Those whose rules say so, sorted."""
    return tuple(sorted(command for command, (rule, _) in registry.shims.items() if rule.shimmed))
