"""From what was seen of an attempt to its sealed bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from overeager.audit.snapshots import diff, snapshot
from overeager.audit.snapshots.snapshot import Snapshot
from overeager.audit.state.comparison import compare_state
from overeager.audit.state.line import write_state
from overeager.contract.agent import Parsed
from overeager.contract.effects import Finished
from overeager.errors import OvereagerError
from overeager.model.bundle import Binary, BundleManifest, ChannelHealth, EndingRecord, PluginChoice, Timings
from overeager.model.vocabulary import Channel
from overeager.run import model_side
from overeager.run.beside import Beside
from overeager.run.capture import Captured, collect_streams
from overeager.run.coverage import check_shims
from overeager.run.ending import conclude_ending
from overeager.run.equipment import HOME, Equipment
from overeager.run.network_side import NetworkSide
from overeager.run.setting import Setting, ask, records_of, roots
from overeager.run.stimulus import lock_stimulus
from overeager.run.tampering import TAMPERED, is_tampered
from overeager.store import bundle

_MOST_SESSION = 1 << 26
"""Bytes that are kept of what the agent writes of itself into its home."""


class Observed(NamedTuple):
    """What was seen of the agent, everything being dead."""

    finished: Finished
    own_output: str
    """The pipe of the agent's stdout, as the kernel channel names it."""
    outputs: Mapping[str, Captured]
    gateway: model_side.GatewayRecord
    beside: Beside
    network: NetworkSide
    timings: Timings


def seal_attempt(equipment: Equipment, setting: Setting, observed: Observed) -> tuple[EndingRecord, str]:
    """Take the second snapshot, conclude the ending, seal; gives the ending and the bundle's file name.

    Raises RUN003 when the trial was stopped from outside, and what the store raises.
    """
    place, world = setting.room, setting.subject.template.world
    after = snapshot.take(roots(place), setting.before)
    outputs = {name: captured.path for name, captured in observed.outputs.items()}
    streams, files_cut = collect_streams(equipment.adapter.streams, outputs, _home_files(after), _MOST_SESSION)
    parsed = ask(equipment, equipment.adapter.parse, streams)
    differences = diff.compare(setting.before, after)
    changed = any(one.path.startswith(f"{world.workspace}/") for one in differences)
    side = observed.gateway.side
    if observed.beside.unsupported:
        side = side._replace(unplayable=observed.beside.unsupported)
    ending = conclude_ending(observed.finished, parsed, side, changed)
    if observed.finished.killed == "stop":
        raise OvereagerError("RUN003", "the trial was stopped")
    members = _members(setting, observed, streams, after)
    members["fs/diff.jsonl"] = diff.write(differences)
    members["fs/state.jsonl"] = write_state(compare_state(setting.before, after, differences))
    manifest = BundleManifest(
        schema_version=1,
        trial=setting.trial,
        attempt=setting.attempt,
        cell=equipment.plan.cell,
        scenario=setting.subject.digest,
        stimulus=lock_stimulus(setting.subject.stimulus, setting.prompt, setting.launch, setting.key),
        workspace=world.workspace,
        home=world.home,
        binary=_binary(equipment),
        plugins=equipment.plugins,
        plugin_choice=PluginChoice.model_validate(equipment.registry.chosen._asdict()),
        started=datetime.now(UTC).replace(microsecond=0).isoformat(),
        timings=observed.timings,
        ending=ending,
        channels=_channels(equipment, observed, parsed, after, members, files_cut),
        canaries={**world.canaries, **setting.subject.secrets},
        streams={name: _member_name(name) for name in streams},
        members={},
        stand_ins=observed.beside.commands,
        processes=dict(observed.beside.pids),
        charged_usd=round(observed.gateway.charged, 6),
        kernel_form=_kernel_form(observed.finished),
        product=equipment.plan.product,
    )
    path = equipment.folder.bundle_path(setting.trial.name, setting.attempt)
    secrets = (equipment.provider.key.encode(),) if equipment.provider else ()
    bundle.seal(path, manifest, members, redact=secrets)
    return ending, path.name


def _home_files(after: Snapshot) -> dict[str, str]:
    """Where the regular files below the home lie on the host, by their path there."""
    prefix = f"{HOME}/"
    return {
        path.removeprefix(prefix): entry.host
        for path, entry in after.entries.items()
        if path.startswith(prefix) and entry.type == "file"
    }


def _kernel_form(finished: Finished) -> Literal["", "python", "compiled"]:
    if finished.kernel.state == "absent":
        return ""
    return "compiled" if finished.compiled else "python"


def _binary(equipment: Equipment) -> Binary:
    if equipment.agent is not None:
        return equipment.agent.record
    _, origin = equipment.registry.agents[equipment.adapter.id]
    return Binary(version=origin.version, sha256=origin.sha256)


def _member_name(stream: str) -> str:
    return f"agent/{stream}.jsonl"


def _members(
    setting: Setting, observed: Observed, streams: Mapping[str, bytes], after: Snapshot
) -> dict[str, bytes | Path]:
    members: dict[str, bytes | Path] = {_member_name(name): data for name, data in streams.items()}
    members["agent/stdout.times"] = "".join(f"{t}\n" for t in observed.outputs["stdout"].times).encode()
    members["agent/stderr.txt"] = observed.outputs["stderr"].path
    members["fs/before.jsonl"], members["fs/after.jsonl"] = snapshot.write_both(setting.before, after)
    for name in ("kernel.jsonl", "shim.jsonl"):
        if (records_of(setting.room) / name).exists():
            members[name] = records_of(setting.room) / name
    return members | dict(observed.gateway.members) | dict(observed.beside.stop()) | dict(observed.network.stop())


def _channels(
    equipment: Equipment,
    observed: Observed,
    parsed: Parsed,
    after: Snapshot,
    members: Mapping[str, bytes | Path],
    files_cut: Sequence[str],
) -> dict[Channel, ChannelHealth]:
    finished = observed.finished
    problems = after.problems
    streams_cut = [*(name for name, captured in observed.outputs.items() if captured.cut), *files_cut]
    agent = ChannelHealth(state="present")
    if is_tampered(members, observed.own_output):
        agent = ChannelHealth(state="absent", reason=TAMPERED)
    elif parsed.end == "none":
        agent = ChannelHealth(state="truncated", reason="the stream has no end event")
    elif streams_cut:
        agent = ChannelHealth(state="truncated", reason=f"more output than is kept: {', '.join(streams_cut)}")
    return {
        "agent": agent,
        "speech": agent,
        "kernel": ChannelHealth.model_validate(finished.kernel._asdict()),
        "shim": check_shims(equipment, finished, parsed, members),
        "fs": ChannelHealth(state="truncated" if problems else "present", reason="; ".join(problems[:3])),
        "net": observed.network.health(),
    }
