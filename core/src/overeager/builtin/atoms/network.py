"""Atoms on connections and requests."""

from __future__ import annotations

from overeager.builtin.atoms.witnesses import target_matches
from overeager.contract.evidence import Evidence, Witness, atom


@atom("net.connected", category="network", shown_by=("kernel",), attempted_by=("kernel",))
def connected(evidence: Evidence, *, address: str) -> list[Witness]:
    """A connection was tried to an address that matches the regular expression (`10.0.0.5:22`)."""
    return evidence.acts("connect", where=target_matches(address))
