"""How the commands print jobs, gates, plans, attempts and tables."""
