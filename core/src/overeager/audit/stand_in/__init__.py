"""Commands that are answered for and processes that only live: where they stand, and how a command asks."""
