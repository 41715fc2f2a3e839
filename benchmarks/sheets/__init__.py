"""Workbooks in and out: our own path against the libraries alone."""
