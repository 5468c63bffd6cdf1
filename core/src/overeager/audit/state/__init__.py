"""What changed files mean to the programs whose they are."""
