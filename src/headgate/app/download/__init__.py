"""What a download job has done: its records, its report, and its plans."""
