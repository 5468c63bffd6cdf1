"""Isolation: bubblewrap, the identity that the agent runs as, and listeners inside its network namespace."""
