"""File formats for rows: one module for each format."""
