"""A person typing Chinese."""
