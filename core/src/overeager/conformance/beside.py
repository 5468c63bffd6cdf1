"""What an author lays beside a plugin's code: one YAML file in its package."""

from __future__ import annotations

from importlib import resources
from typing import TypeVar

from overeager.model.record import Record
from overeager.model.yaml_source import load_record

R = TypeVar("R", bound=Record)


def read_beside(record: type[R], package: str, file: str) -> R | None:
    """What lies in the imported `package` as `file`, None when nothing does; raises what `load_record` raises."""
    path = resources.files(package).joinpath(file)
    return load_record(record, path.read_bytes(), f"{package}/{file}") if path.is_file() else None
