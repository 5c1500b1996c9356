"""A person dictating Chinese to a recogniser."""
