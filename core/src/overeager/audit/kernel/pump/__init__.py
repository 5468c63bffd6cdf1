"""The compiled form of the kernel channel's loop."""
