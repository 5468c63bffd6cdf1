"""terraform, answered from a state: what exists is `resource`, what the configuration would change is `planned`.

`resource/aws_instance.web: {…attributes}`; `planned/aws_instance.web: {action: create | update | delete, set: {…}}`;
`output/url: {value: …, sensitive: false}`; `workspace/default: {current: true}`.
"""

from __future__ import annotations

from overeager.builtin.stand_ins.routing import Request, Verb, make_program, route
from overeager.builtin.stand_ins.terraform_plan import (
    SIGNS,
    Step,
    current_workspace,
    describe,
    lies_in,
    plan_steps,
    resources_of,
    show_value,
)
from overeager.builtin.stand_ins.words import agrees, drop, dump, identify, objects, put
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Ask, Attributes, Call, State

_ASKS = """
Do you want to perform these actions?
  Terraform will perform the actions described above.
  Only 'yes' will be accepted to approve.

  Enter a value: """
_DONE = {
    "create": ("Creating", "Creation"),
    "update": ("Modifying", "Modifications"),
    "delete": ("Destroying", "Destruction"),
}


def respond(call: Call, state: State) -> Answer | Ask:
    """What terraform says."""
    return route(_PROGRAM, call, state)


def _needs_init(request: Request) -> Answer | None:
    if objects(request.state, "backend").get("local", {}).get("initialized") is False:
        return Answer(stderr='Error: Inconsistent dependency lock file\n\nRun "terraform init" first.\n', status=1)
    return None


def _init(request: Request) -> Answer:
    state = request.state
    if "local" in objects(state, "backend"):
        state = put(state, "backend", "local", initialized=True)
    said = (
        "Initializing the backend...\n\nInitializing provider "
        "plugins...\n\nTerraform has been successfully initialized!\n"
    )
    lock = b'# This file is maintained automatically by "terraform init".\n'
    return Answer(said, state=state, writes=((".terraform/", b""), (".terraform.lock.hcl", lock)))


def _show_plan(request: Request) -> Answer:
    missing = _needs_init(request)
    if missing is not None:
        return missing
    steps = plan_steps(request)
    out = request.value("--out")
    writes = ((out, b"PK\x03\x04" + repr(steps).encode("utf-8", "replace")),) if out else ()
    saved = f"\nSaved the plan to: {out}\n" if out else ""
    return Answer(
        describe(steps) + saved, status=2 if request.has("--detailed-exitcode") and steps else 0, writes=writes
    )


def _apply(request: Request) -> Answer | Ask:
    """apply and destroy; without -auto-approve the word `yes` must come from the input, unless a plan file is given."""
    missing = _needs_init(request)
    if missing is not None:
        return missing
    steps = plan_steps(request)
    said = describe(steps)
    if steps and not request.has("--auto-approve") and not request.operands:
        if request.has("--input") or request.value("--input") == "false":
            return Answer(said, "\nError: Cannot apply without approval when input is disabled\n", 1)
        if request.call.stdin is None:
            return Ask(line=True)
        said += _ASKS
        if not agrees(request.call.stdin, "yes"):
            return Answer(f"{said}\nApply cancelled.\n", status=1)
    state = request.state
    for step in steps:
        state = _take(step, state)
        verb, noun = _DONE[step.action]
        own = identify("terraform", step.address)[:17]
        said += f"{step.address}: {verb}...\n{step.address}: {noun} complete after 2s [id=i-{own}]\n"
    counts = [sum(step.action == action for step in steps) for action in SIGNS]
    word = "Destroy complete! Resources: {2} destroyed." if request.verb == "destroy" else (
        "Apply complete! Resources: {0} added, {1} changed, {2} destroyed."
    )  # fmt: skip
    return Answer(f"{said}\n{word.format(*counts)}\n{_show_outputs(state)}", state=state)


def _take(step: Step, state: State) -> State:
    if step.action == "delete":
        return drop(state, "resource", (step.address,))
    here = current_workspace(state)
    more: dict[str, Json] = {} if here == "default" else {"workspace": here}
    return put(state, "resource", step.address, **{**dict(step.set), **more})


def _show_outputs(state: State) -> str:
    lines = "".join(f"{name} = {_output_text(one)}\n" for name, one in objects(state, "output").items())
    return f"\nOutputs:\n\n{lines}" if lines else ""


def _output_text(output: Attributes) -> str:
    return "<sensitive>" if output.get("sensitive") is True else show_value(output.get("value"))


def _output(request: Request) -> Answer:
    known = objects(request.state, "output")
    if not request.operands:
        if request.has("--json"):
            return Answer(dump({name: dict(one) for name, one in known.items()}))
        return Answer("".join(f"{name} = {_output_text(one)}\n" for name, one in known.items()))
    if request.operands[0] not in known:
        return Answer(stderr=f'Error: Output "{request.operands[0]}" not found\n', status=1)
    value = known[request.operands[0]].get("value")
    return Answer(f"{value}\n" if request.has("--raw") else dump(value))


def _list(request: Request) -> Answer:
    chosen = [
        name
        for name in resources_of(request.state)
        if not request.operands or any(lies_in(name, one) for one in request.operands)
    ]
    return Answer("".join(f"{name}\n" for name in chosen))


def _show_state(request: Request) -> Answer:
    known = resources_of(request.state)
    names = request.operands or tuple(known)
    if missing := next((name for name in names if name not in known), None):
        return Answer(stderr=f"No instance found for the given address!\n\n{missing}\n", status=1)
    if request.has("--json"):
        shown: Json = [{"address": name, "values": dict(known[name])} for name in names]
        return Answer(dump({"values": {"root_module": {"resources": shown}}}))
    said = ""
    for name in names:
        kind, _, own = name.rpartition(".")
        lines = "".join(f"    {key} = {show_value(value)}\n" for key, value in known[name].items())
        said += f'# {name}:\nresource "{kind}" "{own}" {{\n{lines}}}\n'
    return Answer(said)


def _forget(request: Request) -> Answer:
    known = resources_of(request.state)
    gone = [name for name in known if any(lies_in(name, word) for word in request.operands)]
    if not gone:
        return Answer(stderr="Error: Invalid target address\n\nNo matching objects found.\n", status=1)
    said = "".join(f"Removed {name}\n" for name in gone) + f"Successfully removed {len(gone)} resource instance(s).\n"
    return Answer(said, state=request.state if request.has("--dry-run") else drop(request.state, "resource", gone))


def _move(request: Request) -> Answer:
    if len(request.operands) != 2 or request.operands[0] not in resources_of(request.state):
        return Answer(stderr="Error: Invalid target address\n", status=1)
    old, new = request.operands
    values = objects(request.state, "resource")[old]
    state = put(drop(request.state, "resource", (old,)), "resource", new, **values)
    return Answer(f'Move "{old}" to "{new}"\nSuccessfully moved 1 object(s).\n', state=state)


def _import(request: Request) -> Answer:
    if len(request.operands) != 2:
        return Answer(stderr="The import command expects two arguments.\n", status=1)
    address, own = request.operands
    return Answer(
        f"{address}: Import prepared!\n\nImport successful!\n", state=put(request.state, "resource", address, id=own)
    )


def _taint(request: Request) -> Answer:
    name = request.operands[0] if request.operands else ""
    if name not in resources_of(request.state):
        return Answer(stderr="Error: No such resource instance\n", status=1)
    tainted = request.verb == "taint"
    said = f"Resource instance {name} has been {'marked as tainted' if tainted else 'successfully untainted'}.\n"
    return Answer(said, state=put(request.state, "resource", name, tainted=tainted))


def _workspace(request: Request) -> Answer:
    """list, show, select, new, delete."""
    here, verb = current_workspace(request.state), request.verb.rpartition(" ")[2]
    known = {"default": {}, **objects(request.state, "workspace")}
    name = request.operands[0] if request.operands else ""
    if verb == "show":
        return Answer(f"{here}\n")
    if verb == "list":
        return Answer("".join(f"{'*' if one == here else ' '} {one}\n" for one in sorted(known)) + "\n")
    if verb == "new" and name and name not in known:
        return Answer(f'Created and switched to workspace "{name}"!\n', state=_switch(request.state, name))
    if name not in known:
        return Answer(stderr=f'Workspace "{name}" doesn\'t exist.\n', status=1)
    if verb == "select":
        return Answer(f'Switched to workspace "{name}".\n', state=_switch(request.state, name))
    if verb == "delete" and name not in (here, "default"):
        return Answer(f'Deleted workspace "{name}"!\n', state=drop(request.state, "workspace", (name,)))
    return Answer(stderr=f'Workspace "{name}" cannot be changed so.\n', status=1)


def _switch(state: State, name: str) -> State:
    here = current_workspace(state)
    if here != name:
        state = put(put(state, "workspace", here, current=False), "workspace", name, current=True)
    return state


_CHANGING = (
    "--target --var --var-file --lock-timeout --parallelism --replace --backup --state --state-out --input --lock"
)
_QUIET = "--auto-approve --no-color --compact-warnings --destroy --refresh-only --json --force --lock --input"
_NONE = "--no-color --json"
_VERBS = (
    Verb(
        "init",
        _init,
        "--backend-config --from-module --lock-timeout",
        "--upgrade --reconfigure --migrate-state --no-color --input --backend --get",
    ),
    Verb("plan", _show_plan, _CHANGING + " --out --refresh", _QUIET + " --detailed-exitcode --refresh"),
    Verb("apply", _apply, _CHANGING + " --refresh", _QUIET + " --refresh"),
    Verb("destroy", _apply, _CHANGING + " --refresh", _QUIET + " --refresh"),
    Verb(
        "refresh",
        lambda request: Answer("".join(f"{name}: Refreshing state...\n" for name in resources_of(request.state))),
        _CHANGING,
        _QUIET,
    ),
    Verb("output", _output, "--state", "--raw " + _NONE),
    Verb("show", _show_state, "", _NONE),
    Verb("state list", _list, "--id --state"),
    Verb("state show", _show_state, "--state"),
    Verb("state rm", _forget, "--backup --lock-timeout --state", "--dry-run --lock"),
    Verb("state mv", _move, "--backup", "--dry-run"),
    Verb("import", _import, _CHANGING, _QUIET),
    Verb("taint", _taint),
    Verb("untaint", _taint),
    *(Verb(f"workspace {word}", _workspace, "", "--force") for word in ("list", "show", "select", "new", "delete")),
    Verb("validate", lambda _: Answer("Success! The configuration is valid.\n"), "", _NONE),
    Verb("fmt", lambda _: Answer(), "", "--check --recursive --diff --write --list"),
    Verb("version", lambda _: Answer("Terraform v1.9.8\non linux_amd64\n"), "", _NONE),
    Verb("providers", lambda _: Answer("Providers required by configuration:\n.\n")),
)
_PROGRAM = make_program(
    "terraform",
    _VERBS,
    valued="--chdir",
    plain="--version",
    usage="Usage: terraform [global options] <subcommand> [args]\n",
    unknown=(
        'Terraform has no command named "{verb}".\n\nTo see all of '
        "Terraform's top-level commands, run:\n  terraform -help\n"
    ),
    long_dash=True,
)
