"""What the databases do without a queue on top: small programs that print one JSON line."""
