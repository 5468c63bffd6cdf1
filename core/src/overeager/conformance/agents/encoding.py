"""The tool table in both directions, and the other functions that the gateway calls."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from posixpath import join, normpath
from typing import Any

from overeager.conformance.agents.apart import Call, call_twice
from overeager.conformance.agents.launching import compare, tasks
from overeager.conformance.agents.reading import lines, read, sample
from overeager.conformance.agents.subject import Recording, Subject, recorded
from overeager.conformance.agents.tour import GATED, STEPS
from overeager.conformance.check import Check, Unavailable
from overeager.contract.agent import AgentAdapter, Classified, Reply, ToolUse
from overeager.model.persona import EditStep, Expect, SearchStep, Step, WriteStep
from overeager.model.vocabulary import Kind
from overeager.run.equipment import HOME, WORKSPACE

_ODD = (
    Step(shell="printf '%s\\n' \"a $b\" 'ü \u2028' \\\n  | sort -u", expect=Expect()),
    Step(read="a folder/it's here.txt"),
    Step(read="~/notes/ü.txt"),
    Step(write=WriteStep(path="~/a b", content='one\n\ttwo "three" \\n\n'), expect=Expect()),
    Step(edit=EditStep(path="src/deep/a.py", old="x = 'a'\n", new=""), expect=Expect()),
    Step(search=SearchStep(pattern="a[(]b", path="src dir")),
)
"""What quoting and joining of paths easily spoil."""

_MUST = ("shell", "read", "write", "edit")
"""Kinds of step that every scenario has."""

KINDS_OF: Mapping[str, frozenset[Kind]] = {
    "shell": frozenset({"exec"}),
    "read": frozenset({"read"}),
    "write": frozenset({"write", "create"}),
    "edit": frozenset({"edit", "write"}),
    "search": frozenset({"search"}),
    "fetch": frozenset({"fetch"}),
}
"""As what a call that does such a step may read, if it is no shell command."""

_REQUESTS: tuple[dict[str, Any], ...] = (
    {},
    {"messages": None, "tools": None, "system": None},
    {"messages": [], "tools": [], "system": [], "input": [], "contents": []},
    {"messages": [1, None, {"role": 3, "content": [{}]}], "tools": [None, {"name": 3}], "system": {"a": 1}},
    {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "input": "Hello", "max_tokens": 1},
)


def names(adapter: AgentAdapter) -> tuple[str, ...]:
    """The tools that the adapter says it knows; raises Unavailable for an agent that has none."""
    if adapter.plays_personas:
        raise Unavailable("an adapter that plays personas has no tool table")
    if adapter.wire_api is None:
        raise Unavailable("an agent that speaks to no model has no tool table")
    known = tuple(getattr(adapter, "tools", {}))
    if not known:
        raise Unavailable("it declares no `tools`: the sandbox alone can show what its calls read as")
    return known


def place(path: str) -> str:
    """A scenario's path as an absolute one."""
    return normpath(join(HOME, path[2:]) if path.startswith("~/") else join(WORKSPACE, path))


def find_bad_calls(subject: Subject) -> Iterator[str]:
    """What is wrong with the call of each step, for all tools and for each alone."""
    adapter = subject.adapter
    known = names(adapter)
    for step in (*STEPS, *_ODD):
        if step.kind in ("say", "ask"):
            continue
        call = _encode(adapter, step, known)
        if isinstance(call, str):
            yield call
        elif call is None:
            if step.kind in _MUST:
                yield f"no call does a {step.kind} step, though all of {', '.join(known)} are offered"
        else:
            yield from _call_faults(adapter, step, call, known)
        yield from _unoffered(adapter, step, known)


def _encode(adapter: AgentAdapter, step: Step, offered: Collection[str]) -> ToolUse | str | None:
    try:
        call = adapter.encode(step, offered, WORKSPACE, HOME)
    except Exception as error:  # noqa: BLE001 - whatever it raises is the fault
        return f"encode of a {step.kind} step raises {type(error).__name__}: {error}"
    return call if call is None or isinstance(call, ToolUse) else f"encode gives {type(call).__name__}, not ToolUse"


def _call_faults(adapter: AgentAdapter, step: Step, call: ToolUse, known: Collection[str]) -> Iterator[str]:
    for one in (*call.before, call):
        if one.name not in known:
            yield f"a {step.kind} step is done by {one.name}, which is not offered"
            return
        try:
            json.dumps(one.arguments)
        except (TypeError, ValueError) as error:
            yield f"the arguments of {one.name} are no JSON: {error}"
            return
    kinds: Collection[Kind] = getattr(adapter, "tools", {})[call.name]
    if not {"exec", *KINDS_OF[step.kind]} & set(kinds):
        yield f"a {step.kind} step is done by {call.name}, whose calls read as {', '.join(kinds)}"
    texts = tuple(_texts(call.arguments))
    for wanted in _wanted(step, "exec" in kinds):
        if not any(wanted in text for text in texts):
            yield f"the call of {call.name} for a {step.kind} step lacks {wanted!r}: {json.dumps(call.arguments)[:160]}"


def _wanted(step: Step, by_shell: bool) -> Iterator[str]:
    """Texts that an argument holds as they are; a shell may quote a path, so only its plain part is looked for."""
    if step.shell is not None:
        yield step.shell
        return
    named = step.write or step.edit or step.search
    path = place(named.path if named else step.read or ".")
    yield step.fetch or (path.rpartition("/")[2].partition("'")[0] if by_shell else path)
    if not by_shell and step.write:
        yield step.write.content
    if not by_shell and step.edit:
        yield from (step.edit.old, step.edit.new)


def _unoffered(adapter: AgentAdapter, step: Step, known: Collection[str]) -> Iterator[str]:
    for offered in ((), *((name,) for name in known)):
        call = _encode(adapter, step, offered)
        if isinstance(call, str):
            yield call
            return
        if call is not None and {one.name for one in (*call.before, call)} - set(offered):
            yield f"a {step.kind} step is done by {call.name} though only {', '.join(offered) or 'nothing'} is offered"
            return


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def find_classifying_faults(subject: Subject) -> Iterator[str]:
    """Odd requests that make it raise or say what is no role."""
    if subject.adapter.wire_api is None:
        raise Unavailable("an agent that speaks to no model makes no requests")
    for request in _REQUESTS:
        try:
            said = subject.adapter.classify(request)
        except Exception as error:  # noqa: BLE001 - whatever it raises is the fault
            yield f"classify of {json.dumps(request)} raises {type(error).__name__}: {error}"
            continue
        if not isinstance(said, Classified) or said.role not in ("main", "subagent", "side"):
            yield f"classify of {json.dumps(request)} gives {said!r}"


def find_converse_faults(subject: Subject) -> Iterator[str]:
    """Replies that are no lines, raise, or do not depend on the answer where a recorded line asks."""
    adapter = subject.adapter
    greeting = adapter.greet(tasks(adapter)[-1])
    if not greeting:
        raise Unavailable("it has no two-way protocol: `greet` opens none")
    if not all(isinstance(line, bytes) and line.endswith(b"\n") for line in greeting):
        yield "a line of the greeting does not end in a newline"
    if not subject.recordings:
        raise Unavailable("a two-way session has to be recorded, and there are no recordings below tests/streams")
    asked = 0
    for recording in subject.recordings:
        asking = _asking(subject, recording)
        asked += len(asking)
        yield from (f"{recording.name}: {fault}" for fault in _session_faults(adapter, recording, asking))
    if not asked:
        yield "no recording holds a question (an action of kind `ask`): record a two-way session"


def _asking(subject: Subject, recording: Recording) -> frozenset[int]:
    """Numbers of the lines of stdout that the parser reads as questions of the agent itself."""
    parsed = read(subject.adapter, {"stdout": recording.members.get("stdout", b"")})
    actions = () if isinstance(parsed, str) else parsed.actions
    return frozenset(one.source.line for one in actions if one.kind == "ask" and one.actor == "agent")


def _session_faults(adapter: AgentAdapter, recording: Recording, asking: Collection[int]) -> Iterator[str]:
    state: Mapping[str, Any] = {}
    odd = [b"\n", b"no JSON\n", b"\xff\x00\n", b"{}\n", b'{"type": 3, "request": []}\n']
    data = recording.members.get("stdout", b"")
    rows = [(number, line + b"\n") for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    for number, line in [*rows, *((0, line) for line in odd)]:
        try:
            yes, no = (adapter.converse(line, state, answer) for answer in (True, False))
            json.dumps(dict(yes.state))
        except Exception as error:  # noqa: BLE001 - whatever it raises is the fault
            yield f"converse of {line[:60]!r} raises {type(error).__name__}: {error}"
            return
        if not isinstance(yes, Reply) or not all(one.endswith(b"\n") for one in (*yes.lines, *no.lines)):
            yield f"the reply to {line[:60]!r} is no Reply whose lines end in newlines"
            return
        if number in asking and (not yes.lines or yes.lines == no.lines):
            yield f"the question in line {number} gets the same reply for yes and no: {yes.lines!r}"
            return
        state = yes.state


def find_impure_functions(subject: Subject) -> Iterator[str]:
    """What parse, encode, classify and converse touch, and where they differ between two worlds."""
    calls = tuple(_calls(subject))
    yield from compare(*call_twice(subject.found, calls), calls)


def _calls(subject: Subject) -> Iterator[Call]:
    adapter = subject.adapter
    tools = tuple(getattr(adapter, "tools", {}))
    for recording in sample(recorded(subject), 3):
        yield "parse", (dict(recording.members),)
        yield "parse", ({name: data[: len(data) // 2] for name, data in recording.members.items()},)
        for line in sample(list(lines({"stdout": recording.members.get("stdout", b"")})), 20):
            yield "converse", (line.text + b"\n", {}, True)
    for step in (*STEPS, *GATED, *_ODD):
        if step.kind not in ("say", "ask"):
            yield "encode", (step, tools, WORKSPACE, HOME)
    if adapter.wire_api is not None:
        yield from (("classify", (request,)) for request in _REQUESTS)


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "agent-functions-pure",
        "`parse`, `encode`, `classify` and `converse` are pure: equal arguments, equal results, nothing is touched.",
        "A verdict is made anew years later, on another machine, from the bundle alone. Keep tables in the package, "
        "and what a function must remember in what it returns.",
        find_impure_functions,
    ),
    Check(
        "agent-encode-offered",
        "`encode` does every step by an offered tool, with the step's own texts and absolute paths; else it says None.",
        "The persona model speaks through it. A call that the CLI does not know is an error that no model would make.",
        find_bad_calls,
    ),
    Check(
        "agent-classify-safe",
        "`classify` never raises, whatever a request holds.",
        "The gateway asks it for every request; one that raises ends the trial as if the agent had failed.",
        find_classifying_faults,
    ),
    Check(
        "agent-converse-safe",
        "`converse` never raises, answers in whole lines, and a question gets another reply for yes than for no.",
        "An agent that gets no answer hangs until its time is up; one that gets yes for no does what was refused.",
        find_converse_faults,
    ),
)
