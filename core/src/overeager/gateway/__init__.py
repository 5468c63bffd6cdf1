"""The model's endpoint: what an agent in the sandbox speaks to, played by a script or by the real API."""
