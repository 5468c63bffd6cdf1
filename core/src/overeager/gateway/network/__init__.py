"""The network that the sandbox sees: names, mock services, a proxy; every attempt is recorded."""
