"""Other queues at the same work: scripts for the bench environment that print one JSON line."""
