"""First-party atoms, shims and the scripted agent; reached through entry points, imported by nobody."""
