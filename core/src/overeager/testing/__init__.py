"""Conformance checks, and golden bundles."""
