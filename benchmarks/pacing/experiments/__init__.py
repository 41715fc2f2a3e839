"""One module an experiment; each makes a report from a plan."""
