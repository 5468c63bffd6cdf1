"""Evidence of a single doing: an atom that answers to it is fed by whatever tells of such doings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from overeager.contract.evidence import (
    Act,
    AtomDeclaration,
    Change,
    Operation,
    StateChange,
    StateOperation,
    StateSystem,
    Witness,
)
from overeager.contract.parameters import AtomParameter
from overeager.model.action import Action, Pointer, Target
from overeager.model.vocabulary import Channel, Kind, State

HOME, WORKSPACE = "/home/user", "/home/user/work"
_NOWHERE = Pointer(member="probe", line=0)
_STOPPED: tuple[State, ...] = ("attempted", "blocked", "failed")


class OneDoing:
    """Fits `contract.Evidence`: one act, which lies at every path that is asked about, and nothing else."""

    workspace = WORKSPACE
    home = HOME

    def __init__(self, act: Act) -> None:
        self._act = act

    def __iter__(self) -> Iterator[Act]:
        yield self._act

    def acts(self, *kinds: Kind, path: str | None = None, where: Callable[[Act], bool] | None = None) -> list[Witness]:
        """A witness when the act is of one of `kinds`, has a path if one is asked for, and `where` holds."""
        act = self._act
        is_there = path is None or any(target.type == "path" for target in act.targets)
        return [Witness((_NOWHERE,))] if act.kind in kinds and is_there and (where is None or where(act)) else []

    def changes(
        self, *operations: Operation, path: str | None = None, where: Callable[[Change], bool] | None = None
    ) -> list[Witness]:
        """Nothing: no snapshot was taken."""
        return []

    def states(
        self,
        system: StateSystem,
        *operations: StateOperation,
        place: str | None = None,
        object: str | None = None,
        where: Callable[[StateChange], bool] | None = None,
    ) -> list[Witness]:
        """Nothing: no snapshot was taken."""
        return []

    def exists(self, path: str) -> list[Witness]:
        """Nothing: no snapshot was taken."""
        return []

    def said(self, pattern: str) -> list[Witness]:
        """A witness when the act is words, whatever they are."""
        return [Witness((_NOWHERE,))] if self._act.kind in ("say", "ask") else []

    def heard(self, holds: Callable[[str], bool], *, final: bool = False) -> list[Witness]:
        """A witness when the act is words, whatever they are."""
        return self.said("")

    def canary(self, path: str) -> list[Witness]:
        """Nothing: what comes out stands in no call."""
        return []


class Doing(NamedTuple):
    """One doing in the words of whoever tells of it."""

    kind: Kind
    targets: tuple[Target, ...]
    argv: tuple[str, ...] = ()
    detail: str = ""


class Question(NamedTuple):
    """An atom, and the parameters that it must be given."""

    atom: AtomDeclaration
    wanted: tuple[AtomParameter, ...]


def question_of(atom: AtomDeclaration) -> Question:
    """The question to ask about one doing after the other."""
    return Question(atom, tuple(parameter for parameter in atom.parameters if parameter.required))


def answering_channels(question: Question, doing: Doing, channels: Sequence[Channel]) -> frozenset[Channel]:
    """Those of `channels` in which the atom, with some parameters, takes the doing for a witness: when it came through,
    if the channel shows the atom; when it did not, if the channel shows attempts."""
    targets = (target.value for target in doing.targets)
    words = tuple(dict.fromkeys((doing.kind, *doing.argv, *targets)))
    return frozenset(
        channel
        for channel in channels
        for state in _states(question.atom, channel)
        if _is_taken(question, OneDoing(_act(doing, channel, state)), words)
    )


def _states(atom: AtomDeclaration, channel: Channel) -> tuple[State, ...]:
    came = ("executed", *_STOPPED) if channel in atom.shown_by else ()
    return came or (_STOPPED if channel in atom.attempted_by else ())


def _act(doing: Doing, channel: Channel, state: State) -> Act:
    gate = "mode" if state == "blocked" else None
    action = Action(
        sequence=1, channel=channel, kind=doing.kind, targets=doing.targets, argv=doing.argv or None, actor="tool",
        tool_call="1", state=state, blocked_by=gate, detail=doing.detail, source=_NOWHERE,
    )  # fmt: skip
    return Act(1, doing.kind, doing.targets, state, "tool", "1", (action,), blocked_by=gate)


def _is_taken(question: Question, evidence: OneDoing, words: Sequence[str]) -> bool:
    """Each word is tried for all texts that the atom must be given; what it may be given is left at its default."""
    atom, wanted = question
    if any(parameter.type != "str" for parameter in wanted):
        return False
    tries = words if wanted else words[:1]
    return any(_ask(atom, evidence, {parameter.name: word for parameter in wanted}) for word in tries)


def _ask(atom: AtomDeclaration, evidence: OneDoing, parameters: dict[str, str]) -> bool:
    try:
        return bool(atom.predicate(evidence, **parameters))
    except ValueError:  # a word that is no pattern; re.error among them
        return False
