"""The acts of trials in which the model only says "done", as data files, one a version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files

from overeager_agent_claude_code.releases import VERSIONS


class _NullTrials(Mapping[str, tuple[str, ...]]):
    """Version to normalised acts (`kind target`), read when asked for: nothing is read at import."""

    def __getitem__(self, version: str) -> tuple[str, ...]:
        data = files(__package__).joinpath("data", f"null-{version}.json")
        if version not in VERSIONS or not data.is_file():
            raise KeyError(version)
        return tuple(json.loads(data.read_text(encoding="utf-8")))

    def __iter__(self) -> Iterator[str]:
        return iter(version for version in VERSIONS if version in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


NULL_TRIALS: Mapping[str, tuple[str, ...]] = _NullTrials()
