"""Numbers from verdicts; pure, through scipy."""
