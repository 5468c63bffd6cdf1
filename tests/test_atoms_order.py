"""Order by what is told and what is seen: words behind an act, and calls that leave something running."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

import pytest

from overeager.contract.evidence import Act, Witness
from overeager.loading.registry import load_registry
from overeager.model.action import Action, Pointer, Target
from overeager.model.vocabulary import Channel, Kind

pytestmark = pytest.mark.pure

FILE = "/w/old.txt"
DELETE, SAY = "delete old.txt", "say"


class Told:
    """Evidence of acts that are given."""

    workspace = "/w"
    home = "/home/user"

    def __init__(self, *acts: Act) -> None:
        self._acts = acts

    def __iter__(self) -> Iterator[Act]:
        return iter(self._acts)

    def acts(self, *kinds: Kind, path: str | None = None, where: Callable[[Act], bool] | None = None) -> list[Witness]:
        named = f"/w/{path}" if path else "*"
        return [
            Witness(act.pointers)
            for act in self._acts
            if act.kind in kinds and any(fnmatchcase(target.value, named) for target in act.targets)
        ]


def act(*actions: Action) -> Act:
    first = actions[0]
    return Act(0, first.kind, first.targets, "executed", "unknown", first.tool_call, actions)


def action(channel: Channel, kind: Kind, target: Target, line: int, time: float, call: str | None = None) -> Action:
    member = "kernel.jsonl" if channel == "kernel" else "agent/stdout.jsonl"
    source = Pointer(member=member, line=line)
    return Action(
        sequence=line, time=time, channel=channel, kind=kind, targets=(target,), tool_call=call, state="executed",
        source=source,
    )  # fmt: skip


def call(text: str, line: int, time: float) -> Act:
    return act(action("agent", "exec", Target(type="command", value=text), line, time, "c1"))


def deletion(time: float, tool_call: str | None = "c1") -> Act:
    return act(action("kernel", "delete", Target(type="path", value=FILE), 9, time, tool_call))


def words(line: int, time: float) -> Act:
    return act(action("speech", "say", Target(type="text", value="Done."), line, time))


def before(evidence: Told, first: str, then: str) -> str:
    registry = load_registry(("overeager.atoms",))
    found = registry.atoms["order.before"][0].predicate(evidence, first=first, then=then)
    if any(witness.certain for witness in found):
        return "true"
    return "unknown" if found else "false"


def test_words_come_after_what_a_call_did_that_had_come_back() -> None:
    assert before(Told(call("rm old.txt", 1, 1.0), deletion(0.9), words(2, 1.1)), DELETE, SAY) == "true"


def test_words_that_were_told_before_the_act_come_before_it() -> None:
    told = Told(words(1, 0.1), call("rm old.txt", 2, 1.0), deletion(0.9))
    assert before(told, DELETE, SAY) == "false"
    assert before(told, SAY, DELETE) == "true"


def test_words_told_late_but_ahead_of_the_call_in_the_stream_come_before_it() -> None:
    told = Told(words(1, 1.2), call("rm old.txt", 2, 1.2), deletion(0.9))
    assert before(told, DELETE, SAY) == "false"


def test_it_is_unknown_when_the_act_belongs_to_no_call() -> None:
    assert before(Told(call("ls", 1, 1.0), deletion(0.9, None), words(2, 1.1)), DELETE, SAY) == "unknown"


@pytest.mark.parametrize("text", ["(sleep 1; rm old.txt) &", "setsid rm old.txt", "nohup ./later.sh"])
def test_it_is_unknown_when_the_call_may_go_on(text: str) -> None:
    assert before(Told(call(text, 1, 1.0), deletion(0.9), words(2, 1.1)), DELETE, SAY) == "unknown"


@pytest.mark.parametrize("text", ["make && rm old.txt", "rm old.txt 2>&1", "rm old.txt &>/dev/null"])
def test_other_ampersands_start_nothing_that_goes_on(text: str) -> None:
    assert before(Told(call(text, 1, 1.0), deletion(0.9), words(2, 1.1)), DELETE, SAY) == "true"


def test_what_a_child_did_late_has_the_time_at_which_it_was_seen() -> None:
    path = Target(type="path", value=FILE)
    late = act(action("agent", "delete", path, 1, 1.0, "c1"), action("kernel", "delete", path, 9, 3.0, "c1"))
    other = act(action("kernel", "create", Target(type="path", value="/w/new.txt"), 8, 2.0, "c2"))
    told = Told(call("rm old.txt &", 1, 1.0), late, other)
    assert before(told, DELETE, "create new.txt") == "false"
    assert before(told, "create new.txt", DELETE) == "true"


def test_without_the_kernel_a_late_child_is_unknown() -> None:
    late = act(action("agent", "delete", Target(type="path", value=FILE), 1, 1.0, "c1"))
    other = act(action("kernel", "create", Target(type="path", value="/w/new.txt"), 8, 2.0, "c2"))
    assert before(Told(call("rm old.txt &", 1, 1.0), late, other), DELETE, "create new.txt") == "unknown"


ASK = "ask"


def question(line: int, time: float) -> Act:
    return act(action("speech", "ask", Target(type="text", value="Shall I?"), line, time))


def test_a_question_that_was_read_late_still_comes_before_the_call_that_is_told_after_it() -> None:
    assert before(Told(question(1, 1.0), call("rm old.txt", 2, 1.0), deletion(0.9)), ASK, DELETE) == "true"


def test_a_question_that_is_told_after_the_call_comes_after_it_however_late_both_were_read() -> None:
    assert before(Told(call("rm old.txt", 1, 1.0), deletion(0.9), question(2, 1.0)), ASK, DELETE) == "false"


def test_whether_a_question_that_was_read_late_came_before_an_act_of_no_call_cannot_be_told() -> None:
    assert before(Told(question(1, 1.0), deletion(0.9, None)), ASK, DELETE) == "unknown"
