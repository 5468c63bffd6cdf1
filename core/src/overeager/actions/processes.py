"""The processes of the kernel channel: who started whom, in which session, and how each ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from overeager.actions.lines import Line, number_of, text_of, texts_of, time_of

FIXTURE_PROGRAMS = "/usr/local/lib"
"""Where the program of each process of the fixture lies, in a folder of the process's name."""


class Life(NamedTuple):
    """One process from its first to its last record; pids come back, lives do not."""

    number: int
    pid: int
    parent: int | None
    """Index of the parent's life."""
    session: int | None
    """Host view."""
    began: float
    argvs: tuple[tuple[str, ...], ...]
    """Of each image that it became."""
    exit_code: int | None
    """None = ended by a signal, or its end is not in the record."""


class Processes(NamedTuple):
    """All lives, and which one each line of the member belongs to."""

    lives: tuple[Life, ...]
    by_line: Mapping[int, int]
    agent_session: int | None
    """Session of the first process: the agent itself."""
    agent: int = 0
    """Index of the agent's own life."""
    agent_inside: int = 2
    """The agent's pid, and so its session, as seen inside."""
    set_up: Mapping[int | None, int] = MappingProxyType({})
    """The line by which each process that ran when the agent started became its program; up to there it is init's."""

    def at(self, pid: int | None, time: float | None) -> int | None:
        """The life that had `pid` at `time`."""
        fitting = [life for life in self.lives if life.pid == pid and (time is None or life.began <= time + 0.5)]
        return fitting[-1].number if fitting else None

    def is_agent(self, index: int) -> bool:
        """Whether the process is in the agent's own session."""
        session = self.lives[index].session
        return session is not None and session == self.agent_session


class Left(NamedTuple):
    """One process that still lived when the agent's own left."""

    pid: int
    """Host view, like the two below `inside`."""
    inside: int
    """Its number as seen inside."""
    parent: int
    session: int
    argv: tuple[str, ...]
    """Of the last image that it became, were it after the agent had gone."""
    exe: str
    """Empty = it hides itself."""
    line: int
    """Of the record that tells of it."""


class _Draft:
    """A life while its records come in."""

    def __init__(self, index: int, pid: int, began: float) -> None:
        self.number, self.pid, self.began = index, pid, began
        self.parent: int | None = None
        self.session: int | None = None
        self.argvs: list[tuple[str, ...]] = []
        self.exit_code: int | None = None
        self.ended = False


def read_processes(lines: Sequence[Line], fixture: Mapping[str, int] = MappingProxyType({})) -> Processes:
    """The processes that the records show, in order of their first record.

    `fixture` are those that ran when the agent started, name to pid inside: init starts them first, then the agent.
    """
    drafts: list[_Draft] = []
    current: dict[int, _Draft] = {}
    by_line: dict[int, int] = {}
    for line in lines:
        record = line.record
        pid = number_of(record, "pid")
        if pid is None:
            continue
        draft = current.get(pid)
        if draft is None or (record.get("first") is True and (draft.ended or draft.session is not None)):
            draft = _Draft(len(drafts), pid, time_of(record) or 0.0)
            drafts.append(draft)
            current[pid] = draft
        _take(draft, line, current)
        by_line[line.number] = draft.number
    lives = tuple(_finish(draft) for draft in drafts)
    set_up = _find_set_up(lives, lines, fixture)
    others = [life for life in lives if life.number not in set_up]
    session = next((life.session for life in others if life.session is not None), None)
    agent = others[0].number if others else 0
    return Processes(lives, by_line, session, agent, set_up=set_up)


def _find_set_up(lives: Sequence[Life], lines: Sequence[Line], fixture: Mapping[str, int]) -> dict[int | None, int]:
    """By the folder of its program: each is the first exec of its process, and stands before the agent's."""
    found: dict[int | None, int] = {}
    by_pid = {life.pid: life.number for life in reversed(lives[1 : len(fixture) + 1])}
    for line in lines if fixture else ():
        paths, life = texts_of(line.record, "paths"), by_pid.get(number_of(line.record, "pid") or 0)
        if life is None and "argv" in line.record:
            break
        starts = life is not None and life not in found and "argv" in line.record and bool(paths)
        if starts and any(paths[0].startswith(f"{FIXTURE_PROGRAMS}/{name}/") for name in fixture):
            found[life] = line.number
    return found


def left(lines: Sequence[Line]) -> tuple[Left, ...] | None:
    """The processes that the agent left behind, its own helpers among them; None = nothing tells, since the agent did
    not leave by itself or the record is not there."""
    told = next((line for line in lines if text_of(line.record, "call") == "left"), None)
    if told is None or not isinstance(told.record.get("processes"), list):
        return None
    later = {
        number_of(line.record, "pid"): texts_of(line.record, "argv")
        for line in lines
        if line.number > told.number and texts_of(line.record, "argv") and line.record.get("found") is not False
    }
    return tuple(
        Left(
            number_of(one, "pid") or 0, number_of(one, "inside") or 0, number_of(one, "ppid") or 0,
            number_of(one, "sid") or 0, later.get(number_of(one, "pid")) or texts_of(one, "argv"),
            text_of(one, "exe") or "", told.number,
        )
        for one in told.record["processes"]
        if isinstance(one, dict)
    )  # fmt: skip


def _take(draft: _Draft, line: Line, current: Mapping[int, _Draft]) -> None:
    record = line.record
    parent, session = number_of(record, "ppid"), number_of(record, "sid")
    if draft.parent is None and parent is not None and parent in current and parent != draft.pid:
        draft.parent = current[parent].number
    if session is not None:
        draft.session = session
    argv = texts_of(record, "argv")
    if argv and record.get("found") is not False:
        draft.argvs.append(argv)
    if text_of(record, "call") == "exit_group":
        draft.exit_code = number_of(record, "code")
        draft.ended = True


def _finish(draft: _Draft) -> Life:
    return Life(draft.number, draft.pid, draft.parent, draft.session, draft.began, tuple(draft.argvs), draft.exit_code)
