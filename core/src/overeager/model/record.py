"""The base of all that lies on disk: frozen, closed, one canonical byte form."""

from __future__ import annotations

import difflib
import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from overeager import canonical

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:[-_.][a-z0-9]+)*$", max_length=80)]
"""Lower-case words joined by `-`, `_` or `.`."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""Lower-case hexadecimal SHA-256."""

RelativePath = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
"""A path below the workspace (`src/app.py`) or, with a leading `~/`, below the home directory."""


class Record(BaseModel):
    """A frozen record that refuses unknown keys and offers the near miss."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.keys() <= cls.__pydantic_fields__.keys():
            known = {field.alias or name for name, field in cls.model_fields.items()}
            for key in data:
                if key not in known:
                    raise _unknown_key(str(key), known)
        return data

    def canonical(self) -> bytes:
        """Canonical JSON without fields at their default, so that a new optional field changes no hash."""
        return canonical.dump(self.model_dump(mode="json", by_alias=True, exclude_defaults=True))

    def digest(self) -> str:
        """SHA-256 of the canonical form."""
        return canonical.sha256(self.canonical())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The record that `canonical` wrote; raises pydantic.ValidationError, or another ValueError for no JSON."""
        if b"\xed" in data:  # perhaps half a surrogate pair, of a name that is no text: JSON proper refuses it
            return cls.model_validate(
                json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_refuse_constant)
            )
        return cls.model_validate_json(data)


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _unknown_key(key: str, known: set[str]) -> PydanticCustomError:
    close = difflib.get_close_matches(key, sorted(known), n=1, cutoff=0.6)
    hint = f"did you mean '{close[0]}'?" if close else "known here: " + ", ".join(sorted(known))
    return PydanticCustomError("unknown_key", "unknown key '{key}'; {hint}", {"key": key, "hint": hint})
