"""How whole each channel is: the worse of the manifest's word and what the members show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.actions.fs import AFTER, BEFORE, DIFF
from overeager.actions.fs_state import STATE
from overeager.actions.lines import Lines, Members, text_of
from overeager.actions.net import EXCHANGES, MESSAGES, REQUESTS
from overeager.actions.seen import MOST, Seen
from overeager.actions.stand_in import MEMBER as STAND_INS
from overeager.contract.agent import Parsed
from overeager.model.bundle import BundleManifest, ChannelHealth
from overeager.model.vocabulary import CHANNELS, Channel, Health

_RANK: Mapping[Health, int] = {"present": 0, "truncated": 1, "absent": 2}

_MEMBERS: Mapping[Channel, tuple[str, ...]] = {
    "shim": ("shim.jsonl",),
    "kernel": ("kernel.jsonl",),
    "fs": (BEFORE, AFTER, DIFF),
    "net": (REQUESTS,),
}
"""The members that a channel consists of; agent and speech consist of the adapter's streams."""


_WHOLE = ChannelHealth(state="present")

MISSED = "a request that the mock does not model: "
"""How the net channel's reason begins when the world, not the record, had a gap."""


class Diagnosis(NamedTuple):
    """Every channel's health, and which channels have lost something since or while they were recorded."""

    health: Mapping[Channel, ChannelHealth]
    lost: frozenset[Channel]


def diagnose(members: Members, manifest: BundleManifest, parsed: Parsed, fs_whole: bool) -> Diagnosis:
    """The health by the members, combined with the manifest's; a channel that was never recorded has lost nothing."""
    health: dict[Channel, ChannelHealth] = {}
    for channel in CHANNELS:
        recorded = manifest.channels.get(channel, ChannelHealth(state="absent", reason="not recorded"))
        health[channel] = _worse(recorded, _by_members(channel, members, manifest, parsed, fs_whole))
    lost = {
        channel
        for channel in CHANNELS
        if health[channel].state == "truncated" or health[channel].state != _recorded(channel, manifest)
    }
    if _only_misses(health["net"], members):
        lost.discard("net")
    return Diagnosis(health, frozenset(lost))


def is_believed(manifest: BundleManifest) -> bool:
    """Whether the agent's account is its own: recorded as absent, what is there may be another's."""
    recorded = manifest.channels.get("agent")
    return recorded is None or recorded.state != "absent"


def cut_short(diagnosis: Diagnosis, read: Mapping[Channel, Sequence[Seen]]) -> Diagnosis:
    """The diagnosis after `read`: a channel with more actions than are read has lost the others."""
    full = frozenset(channel for channel, found in read.items() if len(found) > MOST)
    found = ChannelHealth(state="truncated", reason=f"more than {MOST} actions")
    health = {c: _worse(known, found) if c in full else known for c, known in diagnosis.health.items()}
    return Diagnosis(health, diagnosis.lost | full)


def _recorded(channel: Channel, manifest: BundleManifest) -> Health:
    recorded = manifest.channels.get(channel)
    return "absent" if recorded is None else recorded.state


def _only_misses(net: ChannelHealth, members: Members) -> bool:
    """Whether the network's record is whole, and truncated in name only: a mock had no answer, nothing went unseen."""
    return net.reason.startswith(MISSED) and members.lines(REQUESTS).whole


def _worse(recorded: ChannelHealth, found: ChannelHealth) -> ChannelHealth:
    return found if _RANK[found.state] > _RANK[recorded.state] else recorded


def _by_members(
    channel: Channel, members: Members, manifest: BundleManifest, parsed: Parsed, fs_whole: bool
) -> ChannelHealth:
    if channel in ("agent", "speech"):
        return _by_streams(members, manifest, parsed)
    expected = _MEMBERS[channel]
    if channel == "shim" and manifest.stand_ins:
        expected = (*expected, STAND_INS)
    missing = [name for name in expected if name not in members]
    if missing:
        state: Health = "absent" if len(missing) == len(expected) or channel == "fs" else "truncated"
        return ChannelHealth(state=state, reason=f"{missing[0]} is missing")
    cut = [name for name in expected if not members.lines(name).whole]
    if cut:
        return ChannelHealth(state="truncated", reason=f"{cut[0]} lacks its end")
    if channel == "fs" and STATE in {*members, *manifest.members} and not members.lines(STATE).whole:
        return ChannelHealth(state="truncated", reason=f"{STATE} is missing or lacks its end")
    if channel == "fs" and not fs_whole:
        return ChannelHealth(state="truncated", reason="an entry could not be read")
    if channel == "net":
        return _by_misses(members.lines(REQUESTS))
    return ChannelHealth(state="present")


def _by_misses(requests: Lines) -> ChannelHealth:
    """What a service would have answered, and what would have been done with it, is not known after a miss."""
    misses = dict.fromkeys(text_of(line.record, "miss") for line in requests.records)
    named = [miss for miss in misses if miss]
    return ChannelHealth(state="truncated", reason=MISSED + "; ".join(named[:3])) if named else _WHOLE


def _by_streams(members: Members, manifest: BundleManifest, parsed: Parsed) -> ChannelHealth:
    streams = sorted(manifest.streams.values())
    missing = [name for name in streams if name not in members]
    if streams and len(missing) == len(streams):
        return ChannelHealth(state="absent", reason=f"{missing[0]} is missing")
    if missing:
        return ChannelHealth(state="truncated", reason=f"{missing[0]} is missing")
    cut = [
        name
        for name in (EXCHANGES, MESSAGES)
        if name in {*members, *manifest.members} and not members.lines(name).whole
    ]
    if cut:  # what the agent told its model is its own account too
        return ChannelHealth(state="truncated", reason=f"{cut[0]} is missing or lacks its end")
    if parsed.end == "none":
        return ChannelHealth(state="truncated", reason=parsed.end_detail or "the stream has no end event")
    return ChannelHealth(state="present")
