"""Operators for Chinese."""
