"""What plugins and layers agree on: protocols, hook specs, the registry, and the values by which effects meet."""
