"""Headgate: push a very large batch through rate-limited services, losing and repeating nothing."""

__version__ = "0.1.0"
