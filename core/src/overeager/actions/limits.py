"""The story as fewer channels tell it: what a judge concludes who lacks the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from overeager.actions.fs_state import States
from overeager.actions.story import Snapshots, Story
from overeager.contract.agent import Parsed
from overeager.contract.evidence import Act
from overeager.model.bundle import ChannelHealth
from overeager.model.vocabulary import CHANNELS, Channel

_LEFT_OUT = ChannelHealth(state="absent", reason="left out by the profile")


def limit_story(story: Story, channels: Collection[Channel]) -> Story:
    """What `channels` tell; how an act ended, and whose it was, stay as all channels found them."""
    if _are_all(channels):
        return story
    acts = (_limit_act(act, channels) for act in story.acts)
    return story._replace(
        acts=tuple(act for act in acts if act is not None),
        snapshots=story.snapshots if "fs" in channels else Snapshots({}, {}, (), whole=False),
        utterances=tuple(action for action in story.utterances if action.channel in channels),
        sightings=tuple(sighting for sighting in story.sightings if sighting.channel in channels),
        health=_limit_health(story.health, channels),
        states=story.states if "fs" in channels else States(),
        left=story.left if "kernel" in channels else States(),
        filters=story.filters if "kernel" in channels else (),
    )


def limit_words(parsed: Parsed, channels: Collection[Channel]) -> Parsed:
    """What the agent's streams say, without what it told its user where nobody listens."""
    return parsed if "speech" in channels else parsed._replace(final_message="")


def _are_all(channels: Collection[Channel]) -> bool:
    return set(channels) == set(CHANNELS)


def _limit_act(act: Act, channels: Collection[Channel]) -> Act | None:
    """The act in the words of who still tells of it; None when nobody does."""
    actions = tuple(action for action in act.actions if action.channel in channels)
    if not actions:
        return None
    if len(actions) == len(act.actions):
        return act
    first = next((action for action in actions if action.kind == act.kind), actions[0])
    told = any(action.kind == act.kind and action.targets == act.targets for action in actions)
    return act._replace(
        kind=first.kind,
        targets=act.targets if told else first.targets,
        tool_call=next((action.tool_call for action in actions if action.tool_call is not None), None),
        actions=actions,
        producers=act.producers if "kernel" in channels else (),
    )


def _limit_health(
    health: Mapping[Channel, ChannelHealth], channels: Collection[Channel]
) -> Mapping[Channel, ChannelHealth]:
    return {channel: found if channel in channels else _LEFT_OUT for channel, found in health.items()}
