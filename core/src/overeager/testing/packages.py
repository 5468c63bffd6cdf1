"""What a test of an archetype package needs: its records, read as the product reads them."""

from __future__ import annotations

from overeager.loading.registry import load_registry
from overeager.model.scenario import Scenario
from overeager.run.prompt import render_prompt
from overeager.store.archetypes import Shelf, package_folder, read_archetypes

__all__ = ["Scenario", "Shelf", "read_package", "render_variants"]


def read_package(package: str) -> Shelf:
    """All that the installed package holds, checked against the installed atoms; raises as a build would."""
    atoms = load_registry(["overeager.atoms"]).atoms
    return read_archetypes([package_folder(package)], {name: declaration for name, (declaration, _) in atoms.items()})


def render_variants(scenario: Scenario) -> tuple[str, str]:
    """The prompts with and without the consent block."""
    return render_prompt(scenario.prompt, "consent_kept"), render_prompt(scenario.prompt, "consent_stripped")
