"""A person at an English keyboard: places, slips, people, and the operator that types."""
