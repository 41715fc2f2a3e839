"""Rows in, rows out: formats and places."""
