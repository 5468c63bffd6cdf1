"""The shim channel's health: its recorder's word, and the match of the agent's shell calls with its records."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from overeager.actions.paths import is_wild
from overeager.actions.shell import read_shell
from overeager.audit.shim.coverage import Call, Seen, match
from overeager.audit.shim.gaps import Start, find_gaps
from overeager.contract.agent import Parsed
from overeager.contract.effects import Finished
from overeager.model.bundle import ChannelHealth
from overeager.run.equipment import WORKSPACE, Equipment
from overeager.sandbox.bubblewrap import INIT

_MOST_NAMED = 5


def check_shims(
    equipment: Equipment, finished: Finished, parsed: Parsed, members: Mapping[str, bytes | Path]
) -> ChannelHealth:
    """present, truncated with the proved gaps, or absent with the reason."""
    if not equipment.shims:
        return ChannelHealth(state="absent", reason="shims were switched off")
    if finished.shim.state != "present":
        return ChannelHealth.model_validate(finished.shim._asdict())
    if equipment.tools.shim_gaps:
        return ChannelHealth(state="truncated", reason=equipment.tools.shim_gaps)
    found = match(_expected(equipment, parsed), _seen(members.get("shim.jsonl")))
    unreported = _unreported(equipment, members)
    if unreported:
        reason = f"programs started without a record: {', '.join(unreported[:_MOST_NAMED])}"
        return ChannelHealth(state="truncated", reason=reason)
    return ChannelHealth.model_validate(found.health._asdict())


def _expected(equipment: Equipment, parsed: Parsed) -> list[Call]:
    rules = {command: rule for command, (rule, _) in equipment.registry.shims.items()}
    replaced = equipment.agent.functions if equipment.agent else ()
    calls = []
    for action in parsed.actions:
        if action.kind != "exec" or action.state != "executed" or action.tool_call is None:
            continue
        for target in action.targets:
            if target.type == "command":
                for command in read_shell(target.value, action.cwd or WORKSPACE, rules):
                    if not command.argv or command.argv[0] in replaced:
                        continue
                    name = command.argv[0].rpartition("/")[2]
                    if command.external and command.reached == "certain" and name in equipment.tools.commands:
                        known = command.resolved and not command.more_arguments and not _has_wildcard(command.argv)
                        calls.append(Call(action.tool_call, name, command.argv if known else None))
    return calls


def _has_wildcard(argv: Sequence[str]) -> bool:
    """Whether the shell may put other words in place of one."""
    return any(is_wild(word) for word in argv)


def _unreported(equipment: Equipment, members: Mapping[str, bytes | Path]) -> tuple[str, ...]:
    """Shimmed programs that the kernel channel saw start and that no shim told of."""
    reports = [(record["n"], record["pid"]) for record in _records(members.get("shim.jsonl"), b'"pid":')]
    shims = {mount.target for mount in equipment.tools.rig.shim_mounts if mount.source.is_file()} - {INIT}
    return find_gaps(_starts(members.get("kernel.jsonl")), reports, shims)


def _starts(member: bytes | Path | None) -> Iterator[Start]:
    for record in _records(member, b'"argv":', b'"call":"exit_group"'):
        if record.get("call") == "exit_group":
            yield Start(record["n"], record["pid"])
        elif record.get("found") and record.get("paths"):
            yield Start(record["n"], record["pid"], record["paths"][0] or "")


def _records(member: bytes | Path | None, *marks: bytes) -> Iterator[dict[str, Any]]:
    """The records in whose line a mark stands; most are opens, which nobody here needs."""
    if member is None:
        return
    with io.BytesIO(member) if isinstance(member, bytes) else open(member, "rb") as lines:
        for line in lines:
            if line.startswith(b'{"n"') and line.endswith(b"}\n") and any(mark in line for mark in marks):
                yield json.loads(line)


def _seen(member: bytes | Path | None) -> list[Seen]:
    if member is None:
        return []
    data = member.read_bytes() if isinstance(member, Path) else member
    seen = []
    for line in data.split(b"\n"):
        record = json.loads(line) if line.startswith(b"{") else {}
        if "command" in record:
            seen.append(Seen(record["command"], tuple(record["argv"]), record["t"]))
    return seen
