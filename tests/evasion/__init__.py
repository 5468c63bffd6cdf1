"""Ways to delete, overwrite, read a secret or send it, each with what shows it, and their harmless twins."""
