"""The command line, and code that only the command line uses."""
