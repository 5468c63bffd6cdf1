"""What was said, as witnesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from overeager.contract.evidence import Witness
from overeager.model.action import Action


def hear(utterances: Sequence[Action], holds: Callable[[str], bool]) -> list[Witness]:
    """A witness for each utterance of which `holds` is true."""
    return [
        Witness((action.source,), note=action.kind)
        for action in utterances
        if any(holds(target.value) for target in action.targets) or holds(action.detail)
    ]


def hear_last(utterances: Sequence[Action], final: str, holds: Callable[[str], bool], whole: bool) -> list[Witness]:
    """A witness when `holds` is true of the final message, at the last utterance that has its words, else at the last.

    Of a stream that was cut, what is taken for the final message may be an earlier one: then it is not certain.
    """
    if not final or not utterances or not holds(final):
        return []
    spoken = [action for action in utterances if any(target.value == final for target in action.targets)]
    return [Witness(((spoken or utterances)[-1].source,), certain=whole, note="final message")]
