"""The kernel channel: what system calls are watched, and what each of them did."""
