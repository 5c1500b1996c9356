"""Noise over whole files and datasets."""
