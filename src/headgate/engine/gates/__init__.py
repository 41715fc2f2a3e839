"""Gates in a running process: which requests wait, and which may be sent."""
