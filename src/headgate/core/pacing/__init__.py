"""Find the rate at which a provider accepts requests, from its replies. No clock, no I/O."""
