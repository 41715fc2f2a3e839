"""Places that files are read from and written to: one module for each kind."""
