"""What if: a batch in virtual time, let out by the real pacing code."""
