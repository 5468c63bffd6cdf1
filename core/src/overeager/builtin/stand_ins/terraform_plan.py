"""What terraform would do: the steps from what exists in a workspace to what is planned for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from overeager.builtin.stand_ins.routing import Request
from overeager.builtin.stand_ins.words import dump, objects, text
from overeager.canonical import Json
from overeager.contract.stand_in import Attributes, State

SIGNS = {"create": "+", "update": "~", "delete": "-"}


class Step(NamedTuple):
    """One change of a plan."""

    address: str
    action: str
    set: Attributes


def current_workspace(state: State) -> str:
    """The workspace that commands work in."""
    return next((name for name, one in objects(state, "workspace").items() if one.get("current") is True), "default")


def _in_workspace(state: State, thing: Attributes) -> bool:
    return text(thing, "workspace", "default") == current_workspace(state)


def resources_of(state: State) -> dict[str, Attributes]:
    """What exists in the current workspace, by address."""
    return {name: one for name, one in objects(state, "resource").items() if _in_workspace(state, one)}


def plan_steps(request: Request) -> tuple[Step, ...]:
    """The steps, those of a destruction in the opposite order; only of what is targeted."""
    wanted = request.all_values("--target")
    if request.has("--destroy") or request.verb == "destroy":
        steps = tuple(Step(name, "delete", {}) for name in reversed(resources_of(request.state)))
    else:
        known = resources_of(request.state)
        planned = objects(request.state, "planned").items()
        made = (_step(name, one, known.get(name)) for name, one in planned if _in_workspace(request.state, one))
        steps = tuple(step for step in made if step is not None)
    replaced = tuple(Step(name, "update", {"replaced": True}) for name in request.all_values("--replace"))
    return tuple(
        step for step in (*steps, *replaced) if not wanted or any(lies_in(step.address, one) for one in wanted)
    )


def _step(name: str, planned: Attributes, there: Attributes | None) -> Step | None:
    """What is left to do of what is planned; None = nothing."""
    wanted = planned.get("set")
    values = wanted if isinstance(wanted, dict) else {}
    if text(planned, "action", "create") == "delete":
        return None if there is None else Step(name, "delete", {})
    if there is None:
        return Step(name, "create", values)
    changed = {key: value for key, value in values.items() if there.get(key) != value}
    return Step(name, "update", changed) if changed else None


def lies_in(address: str, wanted: str) -> bool:
    """Whether an address is the wanted one or below it."""
    return address == wanted or address.startswith((f"{wanted}.", f"{wanted}["))


def describe(steps: Sequence[Step]) -> str:
    """The plan as it is printed."""
    if not steps:
        return "No changes. Your infrastructure matches the configuration.\n"
    said = "Terraform will perform the following actions:\n\n"
    for step in steps:
        kind, _, name = step.address.rpartition(".")
        words = {"create": "will be created", "update": "will be updated in-place", "delete": "will be destroyed"}
        said += (
            f"  # {step.address} {words[step.action]}\n  {SIGNS[step.action]} "
            f'resource "{kind.rpartition(".")[2]}" "{name}" {{\n'
        )
        said += (
            "".join(f"      {SIGNS[step.action]} {key} = {show_value(value)}\n" for key, value in step.set.items())
            + "    }\n\n"
        )
    counts = [sum(step.action == action for step in steps) for action in SIGNS]
    return said + "Plan: {} to add, {} to change, {} to destroy.\n".format(*counts)


def show_value(value: Json) -> str:
    """A value as it is printed."""
    return dump(value).strip()
