"""Which tool call each process and each shim record belongs to.

A tool call's process is found by what it was told to run: a shell whose text holds the call's text, or a program whose
words are those of one of the call's commands. What it starts belongs to the same call; so does its whole session, since
each tool call has one of its own and the agent's own processes share the agent's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from overeager.actions.processes import Life, Processes
from overeager.actions.read import bare_name
from overeager.actions.seen import Seen, change
from overeager.model.action import Action, Actor

_LONG_ENOUGH = 3
"""Letters that a call's text must have to be looked for inside another text."""

_MARKS = re.compile(r"['\"\\]")


class Call(NamedTuple):
    """A tool call that starts processes."""

    id: str
    texts: tuple[str, ...]
    """What its processes are told: the command text, a path, a URL."""
    argvs: frozenset[tuple[str, ...]]
    """The commands in its text, by bare name and words."""


def attribute(agent: Sequence[Seen], others: Sequence[Seen], processes: Processes) -> list[Seen]:
    """`others` (shim and kernel) with tool call and actor filled in."""
    calls = _calls(agent)
    by_life = _attribute_lives(calls, processes)
    by_session = _attribute_sessions(calls, others, processes.agent_inside)
    return [_with_call(seen, by_life, by_session, processes) for seen in others]


def argv_key(argv: Sequence[str]) -> tuple[str, ...]:
    """What makes two argvs the same command: bare name and words."""
    return (bare_name(argv[0]), *argv[1:])


def _calls(agent: Sequence[Seen]) -> list[Call]:
    texts: dict[str, list[str]] = {}
    argvs: dict[str, set[tuple[str, ...]]] = {}
    for seen in agent:
        action = seen.action
        if action.tool_call is None or action.channel != "agent" or action.state in ("blocked", "attempted"):
            continue
        if not seen.derived:
            values = [target.value for target in action.targets if target.type in ("command", "url", "path")]
            texts.setdefault(action.tool_call, []).extend(values)
        elif action.kind == "exec" and action.argv:
            argvs.setdefault(action.tool_call, set()).add(argv_key(action.argv))
    return [Call(call, tuple(values), frozenset(argvs.get(call, ()))) for call, values in texts.items()]


def _attribute_lives(calls: Sequence[Call], processes: Processes) -> dict[int, str]:
    """The call of each process: its own, its parent's, or its session's."""
    found: dict[int, str] = {}
    by_session: dict[int, str] = {}
    taken: set[str] = set()
    for life in processes.lives:
        if life.number in processes.set_up:
            continue
        session = life.session if not processes.is_agent(life.number) else None
        inherited = found.get(life.parent) if life.parent is not None else None
        call = inherited or (by_session.get(session) if session is not None else None)
        if call is None:
            call = _choose(calls, life.argvs, taken)
        if call is not None:
            found[life.number] = call
            taken.add(call)
            if session is not None:
                by_session.setdefault(session, call)
    return {**found, **_rest_of_sessions(processes, found, by_session)}


def _rest_of_sessions(processes: Processes, found: Mapping[int, str], by_session: Mapping[int, str]) -> dict[int, str]:
    """Processes that stood before the one by which their session was known."""
    return {
        life.number: by_session[life.session]
        for life in processes.lives
        if life.number not in found
        and life.session in by_session
        and life.session is not None
        and not processes.is_agent(life.number)
    }


def _choose(calls: Sequence[Call], argvs: Iterable[tuple[str, ...]], taken: set[str]) -> str | None:
    """The first call in order that fits, one that has no process yet before the others."""
    fitting = [call.id for call in calls if any(_fits(call, argv) for argv in argvs)]
    return next((call for call in fitting if call not in taken), fitting[-1] if fitting else None)


def _fits(call: Call, argv: tuple[str, ...]) -> bool:
    if argv and argv_key(argv) in call.argvs:
        return True
    return any(holds(word, text) for text in call.texts for word in argv[1:])


def holds(word: str, text: str) -> bool:
    """Whether an argument is the text, or (quotes apart) holds it as a whole."""
    if word == text:
        return True
    if len(text) < _LONG_ENOUGH or len(text) > len(word) * 2:
        return False
    inner, outer = _MARKS.sub("", text), _MARKS.sub("", word)
    at = outer.find(inner)
    if at < 0 or len(inner) < _LONG_ENOUGH:
        return False
    before, after = outer[at - 1 : at], outer[at + len(inner) : at + len(inner) + 1]
    return not (before[:1].isalnum() or after[:1].isalnum())


def _attribute_sessions(calls: Sequence[Call], others: Sequence[Seen], agents: int) -> dict[int, str]:
    """Where there is no kernel channel: the call of each session, by the words of its shim records."""
    argvs: dict[int, list[tuple[str, ...]]] = {}
    for seen in others:
        action = seen.action
        if action.channel == "shim" and action.kind == "exec" and action.session is not None and action.argv:
            argvs.setdefault(action.session, []).append(action.argv)
    found: dict[int, str] = {}
    taken: set[str] = set()
    for session, words in argvs.items():
        call = None if session == agents else _choose(calls, words, taken)
        if call is not None:
            found[session] = call
            taken.add(call)
    return found


def _with_call(seen: Seen, by_life: Mapping[int, str], by_session: Mapping[int, str], processes: Processes) -> Seen:
    action = seen.action
    call = by_life.get(seen.life) if seen.life is not None else _session_call(action, by_session)
    return seen._replace(action=change(action, tool_call=call, actor=_actor(seen, call, processes)))


def _session_call(action: Action, by_session: Mapping[int, str]) -> str | None:
    return by_session.get(action.session) if action.session is not None else None


def _actor(seen: Seen, call: str | None, processes: Processes) -> Actor:
    if call is not None:
        return "tool"
    if seen.life is not None:
        life: Life = processes.lives[seen.life]
        if processes.is_agent(seen.life):
            return "agent"
        return "unknown" if life.session is None else "tool"
    if seen.action.session == processes.agent_inside:
        return "agent"
    return "unknown" if seen.action.session is None else "tool"
