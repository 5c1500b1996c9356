"""The command line, and what it alone needs."""
