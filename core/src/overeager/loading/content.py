"""The content hash of a plugin: what its code and data are, however it was installed."""

from __future__ import annotations

import importlib.resources
import sys
from collections.abc import Iterator
from importlib.resources.abc import Traversable

from overeager.canonical import tree_digest
from overeager.errors import OvereagerError


def hash_module(module: str) -> str:
    """SHA-256 over the package that `module` is or lies in, or over the one file of a module outside packages.

    The module must be imported. Equal for a wheel and an editable install of one source: paths are relative to
    the package, and compiled files are left out.
    """
    try:
        return tree_digest(_files(module))
    except (OSError, ImportError, AttributeError, TypeError) as error:
        raise OvereagerError(
            "PLG008",
            f"the content of '{module}' cannot be read: {error}",
            where=module,
            cure="install it as files or as a zip that Python can import",
        ) from error


def hash_parts(package: str, parts: tuple[str, ...]) -> str:
    """SHA-256 over the named files and folders of `package`."""
    root = importlib.resources.files(package)
    return tree_digest(pair for part in parts for pair in _walk(root / part, part))


def _files(module: str) -> Iterator[tuple[str, bytes]]:
    package = _own_package(module)
    if package is not None:
        yield from _walk(importlib.resources.files(package), "")
        return
    spec = sys.modules[module].__spec__
    if spec is None or spec.origin is None:
        raise OSError("it has no file")
    yield f"{module}.py", spec.loader.get_data(spec.origin)  # type: ignore[union-attr]  # AttributeError is caught above


def _own_package(module: str) -> str | None:
    """The package itself, or the one around it; a namespace package is shared with strangers and is nobody's own."""
    for name in (module, module.rpartition(".")[0]):
        loaded = sys.modules.get(name)
        if loaded is not None and hasattr(loaded, "__path__") and getattr(loaded, "__file__", None):
            return name
    return None


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    if folder.is_file():
        yield prefix, folder.read_bytes()
        return
    for entry in folder.iterdir():
        if entry.name == "__pycache__" or entry.name.endswith((".pyc", ".pyo")):
            continue
        yield from _walk(entry, f"{prefix}/{entry.name}" if prefix else entry.name)
