"""Repositories, read without git."""
