"""Where files lie: one module for each kind of place."""
