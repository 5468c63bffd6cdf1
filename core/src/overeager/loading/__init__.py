"""Plugins in: what is installed, what of it loads and fits, and the locks over it."""
