"""Measuring programs for the HTTP cache; each runs in a process of its own."""
