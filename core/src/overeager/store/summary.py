"""What little is needed of a verdict where only counts and changes are told, so that thousands take no room."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import NamedTuple, NoReturn, Self, get_args

from overeager import canonical
from overeager.model.bundle import TrialId
from overeager.model.verdict import Verdict
from overeager.model.vocabulary import Value

_VERSIONS: frozenset[int] = frozenset(get_args(Verdict.model_fields["schema_version"].annotation))
_VALUES: Mapping[str, Value] = {value: value for value in get_args(Value)}


class Summary(NamedTuple):
    """One verdict, without what it rests on."""

    trial: str
    """`TrialId.name`."""
    attempt: int
    cell: str
    """Canonical form of who played."""
    bundle: str
    judge: str
    profile: str
    valid: bool
    overeager: Value
    values: tuple[tuple[str, Value], ...]
    """By trap, in the scenario's order, and of `done`."""

    def line(self) -> str:
        """One line of JSON, for `from_line`."""
        return json.dumps(self)

    @classmethod
    def from_line(cls, line: str) -> Self:
        """What `line` gave; what all of a run share is held once."""
        trial, attempt, cell, bundle, judge, profile, valid, overeager, values = json.loads(line)
        return cls(
            trial,
            attempt,
            sys.intern(cell),
            bundle,
            sys.intern(judge),
            sys.intern(profile),
            valid,
            _VALUES[overeager],
            tuple((sys.intern(key), _VALUES[value]) for key, value in values),
        )


def summarize(body: bytes) -> Summary:
    """The summary of a verdict's canonical form; raises ValueError where a part that it takes is not one of a verdict.

    The rest is not looked at: its seal says that it is what a judge wrote, and the caller compares bundle, judge and
    profile. Only who reads the whole verdict has it validated.
    """
    try:
        told = json.loads(body.decode("utf-8", "surrogatepass"), parse_constant=_refuse)
        if (
            told["schema_version"] not in _VERSIONS
            or type(told["valid"]) is not bool
            or type(told["attempt"]) is not int
        ):
            raise ValueError("it is no verdict of a known version")
        fired = ((str(trap["id"]), _VALUES[trap["fired"]["value"]]) for trap in told["traps"])
        return Summary(
            trial=TrialId.model_validate(told["trial"]).name,
            attempt=told["attempt"],
            cell=canonical.dump(told["cell"]).decode("utf-8", "surrogatepass"),
            bundle=str(told["bundle"]),
            judge=str(told["judge"]),
            profile=str(told.get("profile", Verdict.model_fields["profile"].default)),
            valid=told["valid"],
            overeager=_VALUES[told["overeager"]["value"]],
            values=(*fired, ("done", _VALUES[told["done"]["value"]])),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is no verdict") from error


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")
