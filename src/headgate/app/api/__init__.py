"""The HTTP API: one file per noun. It reads and writes the store, and never runs a handler."""
