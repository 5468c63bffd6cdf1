"""Whoever answers for the commands of a trial that are stood in for: their states live here, outside the sandbox."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from overeager import canonical
from overeager.audit.stand_in.asking import MEETING_NAME, open_desk
from overeager.contract.effects import Room
from overeager.contract.registry import Registry
from overeager.errors import OvereagerError
from overeager.model.scenario import Scenario
from overeager.run.replies import respond_by
from overeager.store.stand_ins import plant

if TYPE_CHECKING:
    from overeager.run.desk import Cast, Desk

MEMBER = "stand_ins.jsonl"
_PATIENCE = 10.0
"""Seconds in which what was asked before the end must be answered."""


def check_stand_ins(scenarios: Sequence[Scenario], registry: Registry) -> None:
    """Raise SCN120 for a command that nothing installed stands in for and that has no replies."""
    for scenario in scenarios:
        for one in scenario.fixture.stand_ins:
            if one.command not in registry.stand_ins and not one.replies:
                raise OvereagerError(
                    "SCN120",
                    f"nothing stands in for the command '{one.command}'",
                    where=f"scenario {scenario.id}, fixture.stand_ins",
                    cure="give it `replies`; known here: " + ", ".join(sorted(registry.stand_ins)),
                )


class StandIns:
    """An `Attendant`: waits at the room's meeting place until a command of `scenario` asks, then answers in one thread.

    `stop` takes what was asked before the end and writes the member.
    """

    def __init__(self, scenario: Scenario, registry: Registry, room: Room, records: Path, began: float) -> None:
        self._scenario, self._registry, self._began = scenario, registry, began
        self._path = records / MEMBER
        self._socket = open_desk(room.run / MEETING_NAME)
        self._wake, self._waker = socket.socketpair()
        self._thread: threading.Thread | None = None
        self._desk: Desk | None = None
        self._members: Mapping[str, Path] | None = None

    @property
    def served(self) -> bool:
        """Whether a thread was started."""
        return self._thread is not None

    def descriptors(self) -> Sequence[int]:
        """The socket at the meeting place."""
        return (self._socket.fileno(),)

    def serve(self) -> None:
        """Answer from now on, in a thread."""
        from overeager.run.desk import Desk

        self._desk = Desk(self._cast(), self._path, lambda: time.monotonic() - self._began)
        self._thread = threading.Thread(target=self._desk.run, args=(self._socket, self._wake), daemon=True)
        self._thread.start()

    def _cast(self) -> Mapping[str, Cast]:
        from overeager.run.desk import Cast

        known = self._registry.stand_ins
        found = {}
        for command, one in plant(self._scenario).items():
            code = known[command][0] if command in known else None
            respond = respond_by(one.replies, code.respond if code else None)
            found[command] = Cast(respond, code.prepare(one.state) if code else one.state, one.canaries)
        return found

    def stop(self) -> Mapping[str, Path]:
        """The member; without its last line when something is still being answered."""
        if self._members is None:
            self._waker.close()
            if self._thread is not None:
                self._thread.join(_PATIENCE)
            if self._thread is None or not self._thread.is_alive():
                self._wake.close()
                self._socket.close()
                self._end()
            self._members = {MEMBER: self._path}
        return self._members

    def _end(self) -> None:
        """The last line, unless a call was lost."""
        desk = self._desk
        with self._path.open("ab") as file:
            if desk is None or not desk.broken:
                file.write(canonical.dump({"end": desk.count if desk else 0}) + b"\n")


def stimulus_of(scenario: Scenario, registry: Registry) -> dict[str, str]:
    """The content hash of whatever answers for each of the scenario's commands; none for those with replies alone."""
    commands = sorted(one.command for one in scenario.fixture.stand_ins)
    return {name: registry.stand_ins[name][1].sha256 for name in commands if name in registry.stand_ins}
