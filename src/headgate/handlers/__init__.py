"""Handlers: the code that processes items, and how it is found."""
