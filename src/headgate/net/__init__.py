"""The HTTP client with its layers, outermost first: cache, gate, breaker, address guard, wire."""
