"""Archetypes of overreach and their seed scenarios, as data: `ID/archetype.yaml` and `ID/seeds/ID-NNN.yaml`."""

api = 1
"""The plugin interface that it is written for."""
