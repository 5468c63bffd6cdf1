"""Pages out: tables for people, rows for machines."""
