"""Records, report and plans of download jobs."""
