"""The processes of the kernel channel: who started whom, in which session, and how each ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.actions.lines import Line, number_of, text_of, texts_of, time_of


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

    def at(self, pid: int | None, time: float | None) -> int | None:
        """The life that had `pid` at `time`."""
        fitting = [life for life in self.lives if life.pid == pid and (time is None or life.began <= time + 0.5)]
        return fitting[-1].number if fitting else None

    def is_agent(self, index: int) -> bool:
        """Whether the process is in the agent's own session."""
        session = self.lives[index].session
        return session is not None and session == self.agent_session


class _Draft:
    """A life while its records come in."""

    def __init__(self, index: int, pid: int, began: float) -> None:
        self.number, self.pid, self.began = index, pid, began
        self.parent: int | None = None
        self.session: int | None = None
        self.argvs: list[tuple[str, ...]] = []
        self.exit_code: int | None = None
        self.ended = False


def read_processes(lines: Sequence[Line]) -> Processes:
    """The processes that the records show, in order of their first record."""
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
    session = next((life.session for life in lives if life.session is not None), None)
    return Processes(lives, by_line, session)


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
