"""Claude Code as an agent of overeager."""
