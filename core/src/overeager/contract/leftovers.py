"""What a run that was ended by force may leave behind, wherever it lies."""

from __future__ import annotations

from typing import NamedTuple


class Leftover(NamedTuple):
    """One thing that nobody who lives owns."""

    kind: str
    """room, draft, container or image."""
    name: str
    """Its path, or the engine's name for it."""
    size: int
    """Bytes that its removal gives back."""
