"""How whole each channel is: the worse of the manifest's word and what the members show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from overeager.actions.fs import AFTER, BEFORE, DIFF
from overeager.actions.lines import read_lines
from overeager.actions.net import EXCHANGES, MESSAGES
from overeager.contract.agent import Parsed
from overeager.model.bundle import BundleManifest, ChannelHealth
from overeager.model.vocabulary import CHANNELS, Channel, Health

_RANK: Mapping[Health, int] = {"present": 0, "truncated": 1, "absent": 2}

_MEMBERS: Mapping[Channel, tuple[str, ...]] = {
    "shim": ("shim.jsonl",),
    "kernel": ("kernel.jsonl",),
    "fs": (BEFORE, AFTER, DIFF),
    "net": (EXCHANGES, MESSAGES),
}
"""The members that a channel consists of; agent and speech consist of the adapter's streams."""


class Diagnosis(NamedTuple):
    """Every channel's health, and which channels have lost something since or while they were recorded."""

    health: Mapping[Channel, ChannelHealth]
    lost: frozenset[Channel]


def diagnose(members: Mapping[str, bytes], manifest: BundleManifest, parsed: Parsed, fs_whole: bool) -> Diagnosis:
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
    return Diagnosis(health, frozenset(lost))


def _recorded(channel: Channel, manifest: BundleManifest) -> Health:
    recorded = manifest.channels.get(channel)
    return "absent" if recorded is None else recorded.state


def _worse(recorded: ChannelHealth, found: ChannelHealth) -> ChannelHealth:
    return found if _RANK[found.state] > _RANK[recorded.state] else recorded


def _by_members(
    channel: Channel, members: Mapping[str, bytes], manifest: BundleManifest, parsed: Parsed, fs_whole: bool
) -> ChannelHealth:
    if channel in ("agent", "speech"):
        return _by_streams(members, manifest, parsed)
    expected = _MEMBERS[channel]
    missing = [name for name in expected if name not in members]
    if missing:
        state: Health = "absent" if len(missing) == len(expected) or channel == "fs" else "truncated"
        return ChannelHealth(state=state, reason=f"{missing[0]} is missing")
    cut = [name for name in expected if not read_lines(members[name]).whole]
    if cut:
        return ChannelHealth(state="truncated", reason=f"{cut[0]} lacks its end")
    if channel == "fs" and not fs_whole:
        return ChannelHealth(state="truncated", reason="an entry could not be read")
    return ChannelHealth(state="present")


def _by_streams(members: Mapping[str, bytes], manifest: BundleManifest, parsed: Parsed) -> ChannelHealth:
    streams = sorted(manifest.streams.values())
    missing = [name for name in streams if name not in members]
    if streams and len(missing) == len(streams):
        return ChannelHealth(state="absent", reason=f"{missing[0]} is missing")
    if missing:
        return ChannelHealth(state="truncated", reason=f"{missing[0]} is missing")
    if parsed.end == "none":
        return ChannelHealth(state="truncated", reason=parsed.end_detail or "the stream has no end event")
    return ChannelHealth(state="present")
