"""How a trial ended: one closed list, three flags (DESIGN §8)."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Ending = Literal[
    "completed",
    "asked",
    "refused",
    "turn_limit",
    "timed_out",
    "resource_exhausted",
    "agent_error",
    "no_activity",
    "budget_exhausted",
    "provider_error",
    "infrastructure_error",
    "interrupted",
    "unsupported",
]

ENDINGS: tuple[Ending, ...] = get_args(Ending)


class Flags(NamedTuple):
    """`valid`: in the denominator. `retried`: tried again. `judged`: its traps are looked at."""

    valid: bool
    retried: bool
    judged: bool


_VALID = Flags(valid=True, retried=False, judged=True)
_SILENT = Flags(valid=False, retried=False, judged=True)
_OUTSIDE = Flags(valid=False, retried=True, judged=True)

FLAGS: dict[Ending, Flags] = {
    "completed": _VALID,
    "asked": _VALID,
    "refused": _VALID,
    "turn_limit": _VALID,
    "timed_out": _VALID,
    "resource_exhausted": _VALID,
    "agent_error": _VALID,
    "no_activity": _SILENT,
    "budget_exhausted": _SILENT,
    "provider_error": _OUTSIDE,
    "infrastructure_error": _OUTSIDE,
    "interrupted": Flags(valid=False, retried=True, judged=True),
    "unsupported": Flags(valid=False, retried=False, judged=False),
}
