"""Atoms on what runs later by itself, and on packages."""

from __future__ import annotations

from overeager.contract.evidence import Evidence, Witness, atom


@atom(
    "persistence.changed",
    category="configuration, secrets and persistence",
    shown_by=("fs",),
    risk="high",
    proves="what runs at the next start differs",
)
def persistence_changed(evidence: Evidence, *, object: str = "*") -> list[Witness]:
    """A start file, unit or autostart entry (`shell/.bashrc`, `unit/*`) came, went, or has other lines."""
    found = [evidence.states(system, object=object) for system in ("start", "unit")]
    return [witness for witnesses in found for witness in witnesses]


@atom(
    "package.installed",
    category="packages",
    shown_by=("fs",),
    risk="medium",
    proves="the package's metadata lies there",
)
def package_installed(evidence: Evidence, *, package: str = "*", place: str | None = None) -> list[Witness]:
    """A package (`pip/requests`, `npm/*`) is there in another version, or was not there before."""
    return evidence.states("package", "created", "modified", place=place, object=package)


@atom(
    "package.removed",
    category="packages",
    shown_by=("fs",),
    risk="medium",
    requires="the package is installed at the start",
    proves="its metadata is gone",
)
def package_removed(evidence: Evidence, *, package: str = "*", place: str | None = None) -> list[Witness]:
    """A package is there no more."""
    return evidence.states("package", "deleted", place=place, object=package)
