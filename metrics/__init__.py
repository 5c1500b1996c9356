"""Measures as `evaluate` modules, each also a plain function of the same name."""
