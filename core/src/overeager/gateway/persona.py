"""A scripted model: plays a persona's steps through whatever tools the agent offers, without any memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from overeager.contract.agent import AgentAdapter, ToolUse
from overeager.errors import OvereagerError
from overeager.gateway.prices import NO_PRICES
from overeager.gateway.upstream import Asked, Inquiry
from overeager.gateway.wire import Answer, Message, ModelRequest, Text, ToolCall, Unplayable
from overeager.model.persona import Step

DONE = "Done."

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Move(NamedTuple):
    """A step as it can be played with the tools at hand."""

    place: int
    """Index in the persona, from 0."""
    step: Step
    tool: ToolUse | None
    """None for words, and for a step that no offered tool can do."""


class PersonaModel:
    """Answers the main conversation with the persona's next move; `steps=()` is the null model.

    The position is read from the request alone: the number of assistant messages that hold a tool call, then of
    questions that the user has answered since. So a retry gets the same answer, and side requests and sub-agents
    (which are told "Done.") move nothing.
    """

    remote = False
    secrets: tuple[str, ...] = ()
    prices = NO_PRICES

    def __init__(self, adapter: AgentAdapter, steps: Sequence[Step], workspace: str, home: str) -> None:
        self._adapter = adapter
        self._steps = tuple(steps)
        self._workspace = workspace
        self._home = home

    async def answer(self, asked: Asked) -> Answer:
        """The canned text of a side request, or the next move."""
        if asked.classified.role == "side":
            return Message((Text(asked.classified.canned or DONE),))
        if asked.classified.role == "subagent":
            return Message((Text(DONE),))
        moves = self._moves(asked.request)
        return compose(remaining(moves, asked.request), asked.classified.conversation, asked.request.tool_turns)

    async def look_up(self, inquiry: Inquiry) -> Answer | None:
        """Nothing of its own to say."""
        return None

    async def close(self) -> None:
        """Nothing to let go of."""

    def _moves(self, request: ModelRequest) -> tuple[Move, ...]:
        return tuple(
            Move(place, step, None if is_words(step) else self._encode(step, request.offered_tools))
            for place, step in enumerate(self._steps)
        )

    def _encode(self, step: Step, offered: Sequence[str]) -> ToolUse | None:
        try:
            return self._adapter.encode(step, offered, self._workspace, self._home)
        except Exception as error:
            raise OvereagerError(
                "GTW004",
                f"agent adapter '{self._adapter.id}' failed to encode a {step.kind} step: {error!r}",
                cure="encode must return a tool call or None for every step",
            ) from error


def is_words(step: Step) -> bool:
    """Whether the step is said, not done."""
    return step.kind in ("say", "ask")


def remaining(moves: Sequence[Move], request: ModelRequest) -> Sequence[Move]:
    """The moves that the conversation has not seen yet."""
    played = [place for place, move in enumerate(moves) if move.tool is not None]
    if request.tool_turns > len(played):
        return ()
    start = played[request.tool_turns - 1] + 1 if request.tool_turns else 0
    end = played[request.tool_turns] if request.tool_turns < len(played) else len(moves)
    questions = [place for place in range(start, end) if moves[place].step.kind == "ask"]
    if questions and request.answers:
        start = questions[min(request.answers, len(questions)) - 1] + 1
    return moves[start:]


def compose(moves: Sequence[Move], conversation: str, turn: int) -> Message:
    """One message: words up to and with the next tool call or question, or to the end."""
    blocks: list[Text | ToolCall] = []
    unplayable: list[Unplayable] = []
    for move in _until_stop(moves):
        if move.tool is not None:
            blocks += _calls(move.tool, conversation, turn)
        elif is_words(move.step):
            blocks.append(Text(move.step.say or move.step.ask or DONE))
        else:
            unplayable.append(Unplayable(move.place, move.step.kind))
            blocks.append(
                Text(f"I have no tool for the next thing I meant to do ({move.step.kind}), so I leave it out.")
            )
    return Message(tuple(blocks) or (Text(DONE),), tuple(unplayable))


def _calls(tool: ToolUse, conversation: str, turn: int) -> list[ToolCall]:
    """The call, after those that the CLI wants before it; one message, so the turns are counted as before."""
    before = [ToolCall(_call_id(f"{conversation} {number}", turn), first) for number, first in enumerate(tool.before)]
    return [*before, ToolCall(_call_id(conversation, turn), tool)]


def _until_stop(moves: Sequence[Move]) -> Iterator[Move]:
    for move in moves:
        yield move
        if move.tool is not None or move.step.kind == "ask":
            return


def _call_id(conversation: str, turn: int) -> str:
    """An id of the vendor's shape that is the same for a retry of the same turn."""
    number = int.from_bytes(hashlib.sha256(f"{turn} {conversation}".encode("utf-8", "surrogatepass")).digest())
    letters = []
    for _ in range(22):
        number, digit = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "toolu_01" + "".join(letters)
