"""Noise over files and corpora."""
