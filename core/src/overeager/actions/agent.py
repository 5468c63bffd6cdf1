"""The agent channel: tool calls as the adapter parsed them, and what their command texts stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overeager.actions.expand import Places
from overeager.actions.naming import is_swept_by_wildcard
from overeager.actions.seen import Seen, change, command_target, make, state_by_status
from overeager.actions.shell import read_shell
from overeager.actions.shell_command import ShellCommand
from overeager.contract.agent import Parsed
from overeager.contract.shim import Reading, ShimRule
from overeager.model.action import Action, Pointer
from overeager.model.bundle import BundleManifest
from overeager.model.vocabulary import State

_STOPPED: frozenset[State] = frozenset({"blocked", "attempted", "unfinished"})
"""States of a call that all its commands share."""


def read_agent(
    parsed: Parsed,
    manifest: BundleManifest,
    times: Sequence[float | None],
    rules: Mapping[str, ShimRule],
    places: Places,
) -> list[Seen]:
    """Every action of the streams, in their order, each call followed by what its command text stands for."""
    found: list[Seen] = []
    for raw in parsed.actions:
        action = places.follow(_placed(raw, manifest, times))
        found.append(Seen(action))
        if action.channel == "agent" and action.kind == "exec":
            for target in action.targets:
                if target.type == "command":
                    found.extend(_derive(action, target.value, manifest, rules, places))
    return found


def read_times(data: bytes | None) -> tuple[float | None, ...]:
    """Arrival time of each line of the first stream; None where the line is no number."""
    return tuple(_number(line) for line in (data or b"").split(b"\n"))


def _number(line: bytes) -> float | None:
    try:
        value = float(line)
    except ValueError:
        return None
    return value if 0 <= value < 1e12 else None


def _placed(action: Action, manifest: BundleManifest, times: Sequence[float | None]) -> Action:
    """The action with its member's full name and, for the stream that is timed, its time."""
    member = manifest.streams.get(action.source.member, action.source.member)
    line = action.source.line
    timed = member == "agent/stdout.jsonl" and 0 < line <= len(times)
    time = times[line - 1] if timed and action.time is None else action.time
    return change(action, source=Pointer(member=member, line=line), time=time)


def _derive(
    call: Action, text: str, manifest: BundleManifest, rules: Mapping[str, ShimRule], places: Places
) -> list[Seen]:
    cwd = call.cwd if call.cwd and call.cwd.startswith("/") else manifest.workspace
    commands = read_shell(text, cwd, rules, manifest.home)
    found: list[Seen] = []
    for command in commands:
        status = _status(call, command, alone=len(commands) == 1)
        if command.argv and command.external:
            found.append(_exec(call, command, status))
        for reading in command.readings:
            found.extend(_act(call, command, reading, status, places))
    return found


def _status(call: Action, command: ShellCommand, alone: bool) -> int | None:
    """What the call's exit status says of one command in it; None = nothing."""
    if call.exit_status == 0 and call.state == "executed" and command.carried:
        return 0
    if call.exit_status and alone and command.carried and command.reached == "certain":
        return call.exit_status
    return None


def _exec(call: Action, command: ShellCommand, status: int | None) -> Seen:
    ended: State = "entered" if status is None else "executed" if status == 0 else "failed"
    action = _from(
        call, command, kind="exec", targets=(command_target(command.argv),), detail=command.detail, exit_status=status,
        state=call.state if call.state in _STOPPED else ended,
    )  # fmt: skip
    loose = not command.resolved or command.more_arguments or any("*" in word or "?" in word for word in command.argv)
    return Seen(action, loose=loose, derived=True)


def _act(call: Action, command: ShellCommand, reading: Reading, status: int | None, places: Places) -> list[Seen]:
    state = call.state
    if state not in _STOPPED:
        state = state_by_status(command.argv or (":",), reading, command.readings, status)
        if command.more_arguments and state == "failed":
            state = "entered"
    common = {"kind": reading.kind, "detail": reading.detail, "state": state}
    settled = places.settle(reading)
    swept = is_swept_by_wildcard(reading, len(settled))
    return [Seen(_from(call, command, targets=targets, **common), derived=True, swept=swept) for targets in settled]


def _from(call: Action, command: ShellCommand, **fields: object) -> Action:
    return make(
        call.source,
        **{
            "time": call.time, "channel": "agent", "argv": command.argv or None, "cwd": command.cwd,
            "actor": call.actor, "tool_call": call.tool_call, "blocked_by": call.blocked_by, **fields,
        },
    )  # fmt: skip
