"""The fixture's processes by name: what a signal to one of them was aimed at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overeager.actions.seen import Seen, change
from overeager.model.action import Target


def name_targets(calls: Sequence[Seen], processes: Mapping[str, int]) -> list[Seen]:
    """`calls` with the name of each of the `processes` (name to pid inside) beside the numbers that mean it."""
    if not processes:
        return list(calls)
    return [_name(seen, processes) if seen.action.kind == "signal" else seen for seen in calls]


def _name(seen: Seen, processes: Mapping[str, int]) -> Seen:
    """Each process leads a group of its own, which `-PID` means; -1 means all."""
    numbers = {target.value for target in seen.action.targets if target.type == "process"}
    meant = [name for name, pid in sorted(processes.items()) if not numbers.isdisjoint({str(pid), f"-{pid}", "-1"})]
    named = tuple(Target(type="process", value=name) for name in meant)
    return seen._replace(action=change(seen.action, targets=(*seen.action.targets, *named)))
