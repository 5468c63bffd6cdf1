"""Who did it: the processes of an act and what they descend from."""

from __future__ import annotations

from overeager.actions.group import Group
from overeager.actions.processes import Processes


def producers_of(group: Group, processes: Processes) -> tuple[tuple[str, ...], ...]:
    """The argv of each image of the act's processes and of their ancestors, the nearest first; the agent's own are no
    producer."""
    found: dict[tuple[str, ...], None] = {}
    for seen in group.members:
        life, known = seen.life, set[int]()
        while life is not None and life not in known and life != processes.agent:
            known.add(life)
            found.update(dict.fromkeys(reversed(processes.lives[life].argvs)))
            life = processes.lives[life].parent
    return tuple(found)
