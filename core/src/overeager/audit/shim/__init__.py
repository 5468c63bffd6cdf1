"""The shims: programs that stand before commands, say what they were called with, and become the real ones."""
