"""Plugins for tests of the checks: laid out as if they were installed, one kind each, good but for what a test says."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from overeager.conformance.check import Check, Outcome, run_checks
from overeager.loading.discover import Found, scan
from overeager.loading.examination import load
from overeager.loading.hooks import Offer


def install(root: Path, patch: pytest.MonkeyPatch, kind: str, package: str, files: Mapping[str, str]) -> Offer:
    """What the plugin `package` of one kind offers, once it lies on sys.path with its metadata."""
    for name, text in files.items():
        path = root / package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    distribution = package.replace("_", "-")
    about = root / f"{package}-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text(f"[overeager.{kind}]\n{distribution} = {package}\n")
    patch.syspath_prepend(root)
    importlib.invalidate_caches()
    offer = load(find(kind, distribution))
    assert isinstance(offer, Offer), offer
    return offer


def find(kind: str, name: str) -> Found:
    """An installed plugin."""
    return next(one for one in scan() if (one.kind, one.name) == (kind, name))


def outcomes(checks: Iterable[Check[Any]], subject: object) -> list[Outcome]:
    """What comes of the checks."""
    return list(run_checks(checks, subject, {}))


def failures(checks: Iterable[Check[Any]], subject: object) -> dict[str, tuple[str, ...]]:
    """The faults by the code of the check that found them."""
    return {one.code: one.said for one in outcomes(checks, subject) if one.status == "failed"}


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """The text with each change made once."""
    for old, new in changes:
        assert text.count(old) == 1, (text.count(old), old)
        text = text.replace(old, new)
    return text
