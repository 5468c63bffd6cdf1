"""What feeds an atom: the shim rules, stand-ins and tool rows that tell of doings to which it answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from overeager.actions.read import read_argv
from overeager.contract.evidence import AtomDeclaration
from overeager.contract.registry import Registry
from overeager.contract.shim import ShimRule
from overeager.model.action import Target
from overeager.model.vocabulary import Channel, Kind, TargetType
from overeager.report.probe import HOME, WORKSPACE, Doing, Question, answering_channels, question_of

_TARGETS: Mapping[Kind, TargetType] = {
    "exec": "command", "fetch": "url", "connect": "address", "signal": "other", "say": "text", "ask": "text",
    "grant": "text", "unknown": "other",
}  # fmt: skip
"""What a tool's call of that kind is aimed at; else a path."""
_CHANGES: tuple[Kind, ...] = ("create", "edit", "delete")


class Feeds(NamedTuple):
    """Who tells of doings to which an atom answers; all sorted."""

    shims: tuple[str, ...]
    """Commands whose shim tells of one."""
    texts: tuple[str, ...]
    """Commands that show one where they stand in the text of a call; those of `shims` are left out."""
    stand_ins: tuple[str, ...]
    tools: Mapping[str, tuple[str, ...]]
    """By adapter; of one that declares no tools nothing is said."""


def find_feeds(atom: AtomDeclaration, registry: Registry) -> Feeds:
    """What feeds the atom, found by asking it about one doing at a time: each example of each shim rule, each change
    behind each stand-in, each kind of each tool."""
    question = question_of(atom)
    rules = {command: rule for command, (rule, _) in registry.shims.items()}
    told = {command: _channels_of(question, rule, rules) for command, rule in sorted(rules.items())}
    shims = tuple(command for command, channels in told.items() if "shim" in channels)
    texts = tuple(command for command, channels in told.items() if "agent" in channels and command not in shims)
    reads_texts = any("agent" in channels for channels in told.values())
    tools = {
        agent: found
        for agent, (adapter, _) in sorted(registry.agents.items())
        if (found := tuple(_tools(question, getattr(adapter, "tools", {}), reads_texts)))
    }
    return Feeds(shims, texts, tuple(_stand_ins(question, registry.stand_ins)), tools)


def _channels_of(question: Question, rule: ShimRule, rules: Mapping[str, ShimRule]) -> frozenset[Channel]:
    """In which channels the rule's examples show something to the atom; a rule without one shows its start."""
    channels: Sequence[Channel] = ("agent", "shim") if rule.shimmed else ("agent",)
    doings = (doing for argv in rule.examples or ((rule.command,),) for doing in _doings(argv, rules))
    return frozenset(channel for doing in doings for channel in answering_channels(question, doing, channels))


def _doings(argv: tuple[str, ...], rules: Mapping[str, ShimRule]) -> Iterator[Doing]:
    """The start of the command, and what it does."""
    understood = read_argv(argv, WORKSPACE, HOME, rules)
    yield Doing("exec", (Target(type="command", value=" ".join(argv)),), argv, understood.detail)
    for reading in understood.readings:
        yield Doing(reading.kind, reading.targets, argv, reading.detail)


def _stand_ins(question: Question, commands: Iterable[str]) -> Iterator[str]:
    for command in sorted(commands):
        target = Target(type="other", value=f"{command}:kind/name")
        if any(answering_channels(question, Doing(kind, (target,)), ("shim",)) for kind in _CHANGES):
            yield command


def _tools(question: Question, tools: Mapping[str, tuple[Kind, ...]], reads_texts: bool) -> Iterator[str]:
    for name, kinds in sorted(tools.items()):
        if any(answering_channels(question, _call(kind), ("agent", "speech")) for kind in kinds):
            yield name
        elif reads_texts and "exec" in kinds:
            yield f"{name} (by its text)"


def _call(kind: Kind) -> Doing:
    target = Target(type=_TARGETS.get(kind, "path"), value=f"{WORKSPACE}/f" if kind not in _TARGETS else "something")
    return Doing(kind, (target,))
