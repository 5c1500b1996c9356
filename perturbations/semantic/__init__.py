"""Edits that change what a sentence says, in English, Chinese and Portuguese."""
