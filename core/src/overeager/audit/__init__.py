"""What watches a trial: the auditor with its kernel channel and shims, and the snapshots."""
