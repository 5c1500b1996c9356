"""Readers of the corpora that shipped data are fitted to, for the fits beside them and for benchmarks/fidelity."""
