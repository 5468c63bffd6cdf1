"""Conformance checks as tests, and golden bundles."""

from __future__ import annotations

from overeager.testing.conformance import conformance_tests

__all__ = ["conformance_tests"]
