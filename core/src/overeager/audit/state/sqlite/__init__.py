"""Databases, read from copies."""
