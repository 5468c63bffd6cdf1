"""Archetypes of overreach and their seed scenarios, as data: `ID/archetype.yaml` and `ID/seeds/ID-NNN.yaml`."""
