"""Limits at one gate: configuration, budgets, breakers and the split between processes."""
