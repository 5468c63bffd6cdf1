"""Which process made a request: the one whose connect the kernel channel saw just before, when no other can have.

Connections to one port are taken in the order in which they were asked for, so where there are as many as the kernel
channel saw connects, the first is of the first. The model may be called at the same port as a service.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.actions.lines import Line, number_of, text_of, time_of
from overeager.actions.processes import Processes

_BEFORE = 1.0
"""Seconds that a connect may lie before the first thing that came over it."""
_AFTER = 0.05
"""Seconds by which the two clocks' readings may be out of order."""

_CALLS = frozenset({"connect", "sendto", "sendmsg", "sendmmsg"})


class Caller(NamedTuple):
    """Who made a request."""

    life: int
    alone: bool
    """False = it may have been another process of the same session, and so of the same tool call."""


class _Reach(NamedTuple):
    """One connect to this machine."""

    time: float
    life: int


def find_callers(
    requests: Sequence[Line], kernel: Sequence[Line], processes: Processes, exchanges: Sequence[Line] = ()
) -> Mapping[int, Caller]:
    """Who made each request, by the request's line; where several can have, and are not of one session, nobody.

    What came over one connection was made by one caller.
    """
    if not requests:
        return {}
    reaches, ends = _find_reaches(kernel, processes), _find_ends(kernel, processes)
    in_order = _match_in_order(_merge(requests, exchanges), reaches)
    by_connection: dict[tuple[int, int], Caller | None] = {}
    found: dict[int, Caller] = {}
    for line in requests:
        port, peer = number_of(line.record, "at") or 0, number_of(line.record, "peer") or 0
        if (port, peer) not in by_connection or peer == 0:
            near = _near(reaches.get(port, ()), ends, time_of(line.record))
            first = in_order.get((port, peer))
            by_connection[port, peer] = Caller(first, alone=True) if first in near else _choose(near, processes)
        caller = by_connection[port, peer]
        if caller is not None:
            found[line.number] = caller
    return found


def _find_reaches(kernel: Sequence[Line], processes: Processes) -> dict[int, list[_Reach]]:
    """Each connect to this machine, by port."""
    found: dict[int, list[_Reach]] = {}
    for line in kernel:
        if text_of(line.record, "call") not in _CALLS:
            continue
        host, _, port = (text_of(line.record, "address") or "").rpartition(":")
        time, life = time_of(line.record), processes.by_line.get(line.number)
        if host.startswith("127.") and port.isdecimal() and time is not None and life is not None:
            found.setdefault(int(port), []).append(_Reach(time, life))
    return found


def _merge(requests: Sequence[Line], exchanges: Sequence[Line]) -> Sequence[Line]:
    """What came over any connection, in time; exchanges of bundles that do not tell their connections are left out."""
    model = [line for line in exchanges if number_of(line.record, "peer")]
    return sorted((*requests, *model), key=lambda line: time_of(line.record) or 0.0) if model else requests


def _match_in_order(
    requests: Sequence[Line], reaches: Mapping[int, Sequence[_Reach]]
) -> dict[tuple[int, int], int | None]:
    """The life of each connection on the ports on which there are as many connections as connects."""
    connections: dict[int, dict[int, None]] = {}
    for line in requests:
        port, peer = number_of(line.record, "at") or 0, number_of(line.record, "peer") or 0
        connections.setdefault(port, {})[peer] = None
    return {
        (port, peer): reach.life
        for port, peers in connections.items()
        if 0 not in peers and len(peers) == len(reaches.get(port, ()))
        for peer, reach in zip(peers, sorted(reaches[port]), strict=True)
    }


def _find_ends(kernel: Sequence[Line], processes: Processes) -> dict[int, float]:
    """When each life left, as far as it said so."""
    return {
        processes.by_line[line.number]: time
        for line in kernel
        if text_of(line.record, "call") == "exit_group" and line.number in processes.by_line
        if (time := time_of(line.record)) is not None
    }


def _near(reaches: Sequence[_Reach], ends: Mapping[int, float], time: float | None) -> list[int]:
    """The lives that connected in time and had not left before, each once, in their order."""
    if time is None:
        return []
    lives = [one.life for one in reaches if time - _BEFORE <= one.time <= time + _AFTER]
    return [life for life in dict.fromkeys(lives) if ends.get(life, time) >= time - _AFTER]


def _choose(near: Sequence[int], processes: Processes) -> Caller | None:
    sessions = {processes.lives[life].session for life in near}
    if not near or len(sessions) > 1 or (len(near) > 1 and None in sessions):
        return None
    return Caller(near[-1], alone=len(near) == 1)
