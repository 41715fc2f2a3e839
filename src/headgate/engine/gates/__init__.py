"""Gates in a running process: who waits before which, and who may go."""
