"""Answers without code: what a fixture says that a command replies to which arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from overeager.contract.stand_in import Answer, Ask, Attributes, Call, Respond, State
from overeager.model.stand_in import CannedReply, Effect

_GROUP = re.compile(r"\{(\w+)\}")


def respond_by(replies: Sequence[CannedReply], respond: Respond | None) -> Respond:
    """The first reply whose expression matches answers; else `respond`; without one the call is a miss."""
    patterns = [(re.compile(reply.arguments, re.DOTALL), reply) for reply in replies]

    def answer(call: Call, state: State) -> Answer | Ask:
        arguments = " ".join(call.argv[1:])
        for pattern, reply in patterns:
            match = pattern.fullmatch(arguments)
            if match is not None:
                return _reply(reply, match, state)
        return respond(call, state) if respond is not None else miss(call)

    return answer


def miss(call: Call) -> Answer:
    """What is answered where nothing is known of the call."""
    first = next((word for word in call.argv[1:] if not word.startswith("-")), "")
    what = f"unknown command '{first}'" if first else "missing command"
    return Answer(stderr=f"{call.argv[0]}: {what}\nSee '{call.argv[0]} --help'.\n", status=1, known=False)


def _reply(reply: CannedReply, match: re.Match[str], state: State) -> Answer:
    for effect in reply.effects:
        state = _apply(effect, _fill(effect.object, match), state)
    return Answer(_fill(reply.stdout, match), _fill(reply.stderr, match), reply.status, state)


def _apply(effect: Effect, name: str, state: State) -> State:
    kind, _, own = name.partition("/")
    objects: Mapping[str, Attributes] = state.get(kind, {})
    if effect.delete:
        return {**state, kind: {key: value for key, value in objects.items() if key != own}}
    return {**state, kind: {**objects, own: {**objects.get(own, {}), **effect.set}}}


def _fill(text: str, match: re.Match[str]) -> str:
    """`text` with the groups of `match` in their places; other braces stay."""
    groups = {**{str(number): value for number, value in enumerate(match.groups(), start=1)}, **match.groupdict()}
    return _GROUP.sub(lambda found: (groups[found[1]] or "") if found[1] in groups else found[0], text)
