"""The polite HTTP client, outermost first: cache, gate, breaker, address guard, wire."""
