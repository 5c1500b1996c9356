"""Shared code of every layer; it imports no other package of lapsus."""
