"""What lies below the roots before and after a trial, and the difference."""
