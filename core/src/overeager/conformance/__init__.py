"""What a plugin must keep to: one list of checks a kind, for `check-plugin` and for pytest."""
