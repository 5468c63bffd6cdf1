"""Plan, one trial, workers, resume; the only layer that knows sandbox, audit, gateway and store at once."""
