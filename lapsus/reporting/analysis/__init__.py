"""The numbers of a report: each model's score on each track, its drop under noise, and their intervals and tests."""
