"""How the argv of each known command reads, one family a module."""
