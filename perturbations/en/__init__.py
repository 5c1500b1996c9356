"""Operators for English."""
