"""How rows are written down: one module for each format."""
