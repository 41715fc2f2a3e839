"""Plans: simulates a batch in virtual time with the real pacing code."""
