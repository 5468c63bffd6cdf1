"""Which sockets stand inside a sandbox, whatever kind of sandbox it is."""

from __future__ import annotations

from overeager.contract.effects import Opening, SandboxPlan

LOOPBACK = "127.0.0.1"
RESOLVER = "127.0.0.53"
"""Where the name service is asked; /etc/resolv.conf names it."""


def openings(plan: SandboxPlan) -> tuple[Opening, ...]:
    """The sockets of a plan, stream ports first; the sandbox hands them out as listeners in this order."""
    streams = tuple(Opening("tcp", LOOPBACK, port) for port in plan.ports)
    return streams + tuple(Opening("udp", RESOLVER, port) for port in plan.datagrams)
