"""The shim channel's health: its recorder's word, and the match of the agent's shell calls with its records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from overeager.actions.shell import read_shell
from overeager.audit.coverage import Call, Seen, match
from overeager.contract.agent import Parsed
from overeager.contract.effects import Finished
from overeager.model.bundle import ChannelHealth
from overeager.run.equipment import WORKSPACE, Equipment


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
    return ChannelHealth.model_validate(found.health._asdict())


def _expected(equipment: Equipment, parsed: Parsed) -> list[Call]:
    rules = {command: rule for command, (rule, _) in equipment.registry.shims.items()}
    calls = []
    for action in parsed.actions:
        if action.kind != "exec" or action.state != "executed" or action.tool_call is None:
            continue
        for target in action.targets:
            if target.type == "command":
                for command in read_shell(target.value, action.cwd or WORKSPACE, rules):
                    name = command.argv[0].rpartition("/")[2] if command.argv else ""
                    if command.external and command.reached == "certain" and name in equipment.tools.commands:
                        known = command.resolved and not command.more_arguments
                        calls.append(Call(action.tool_call, name, command.argv if known else None))
    return calls


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
