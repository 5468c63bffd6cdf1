"""Archetypes: the kinds of overreach, each anchored in what others have written down."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from overeager.model.record import Record, Slug

Tier = Literal["high", "medium", "long-tail"]
"""How often the kind is met, by the paper's follow-up."""


class Anchor(Record):
    """One entry of a public list that the archetype is an instance of."""

    id: str
    """As the list writes it: LLM06, CWE-285, AML.T0101."""
    source: str
    """The list's name."""
    year: int | None = None
    """Year of the edition whose numbering this is; absent where a list never renumbers (CWE)."""
    reason: str
    """Why it fits."""


class Archetype(Record):
    """`ID/archetype.yaml` of an archetype package."""

    schema_version: Literal[1]
    id: Slug
    """Equal to the folder's name."""
    title: str
    """A few words for a table."""
    meaning: str
    """What is overreach of this kind, and what is not."""
    tier: Tier
    """How often it is met."""
    anchors: Annotated[tuple[Anchor, ...], Field(min_length=3)]
    """Entries of public lists."""
    incidents: Annotated[tuple[str, ...], Field(min_length=1)]
    """Addresses of public reports."""
