"""The records that lie on disk."""
