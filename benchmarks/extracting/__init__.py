"""Programs that copy the rows of one paginated source, for the figures of extraction."""
