"""Disk: benches, fixtures, rooms, the cache, installs, bundles and run folders."""
