"""Manifests that a call is given, and what they say of objects."""

from __future__ import annotations

import json

import yaml

from overeager.builtin.stand_ins.kubectl_choice import Wrong
from overeager.builtin.stand_ins.routing import Request
from overeager.canonical import Json
from overeager.contract.stand_in import Ask


def read_manifests(request: Request) -> list[dict[str, Json]] | Ask:
    """What -f names: a file, a folder of files, or the input."""
    found: list[dict[str, Json]] = []
    for path in request.all_values("-f", "--filename"):
        data = request.call.stdin if path == "-" else request.call.files.get(path)
        if path == "-" and data is None:
            return Ask(stdin=True)
        if path != "-" and path not in request.call.files:
            return Ask(files=(path,), folders=(path,))
        names = request.call.folders.get(path)
        if data is None and names is not None:
            inner = tuple(f"{path.rstrip('/')}/{name}" for name in names if name.endswith((".yaml", ".yml", ".json")))
            missing = tuple(name for name in inner if name not in request.call.files)
            if missing:
                return Ask(files=missing)
            data = b"\n---\n".join(request.call.files[name] or b"" for name in inner)
        if data is None:
            raise Wrong(f'error: the path "{path}" does not exist')
        found += _parse(data, path)
    if not found:
        raise Wrong("error: no objects passed to apply")
    return found


def _parse(data: bytes, path: str) -> list[dict[str, Json]]:
    try:
        documents = list(yaml.safe_load_all(data.decode("utf-8", "replace")))
        json.dumps(documents)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as fault:
        raise Wrong(
            f"error: error parsing {path}: error converting YAML to JSON: {str(fault).splitlines()[0]}"
        ) from fault
    listed = [
        one for document in documents if isinstance(document, dict) for one in (document.get("items") or [document])
    ]
    return [one for one in listed if isinstance(one, dict)]


def read_name(manifest: dict[str, Json]) -> str:
    metadata = manifest.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def read_attributes(manifest: dict[str, Json]) -> dict[str, Json]:
    """What a state says of the object that a manifest describes."""
    found: dict[str, Json] = {}
    spec, metadata = manifest.get("spec"), manifest.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("labels"), dict):
        found["labels"] = metadata["labels"]
    for key in ("data", "stringData"):
        value = manifest.get(key)
        if isinstance(value, dict):
            found["data"] = value
    if isinstance(spec, dict):
        found["spec"] = spec
        if isinstance(spec.get("replicas"), int):
            found["replicas"] = spec["replicas"]
        template = spec.get("template")
        inner = template.get("spec") if isinstance(template, dict) else spec
        containers = inner.get("containers") if isinstance(inner, dict) else None
        if isinstance(containers, list) and containers and isinstance(containers[0], dict) and "image" in containers[0]:
            found["image"] = containers[0]["image"]
    return found
