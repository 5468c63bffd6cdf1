"""From evidence to verdicts: deterministic rules in Kleene's three-valued logic."""
