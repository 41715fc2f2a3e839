"""The one who handles files: reads sources into jobs, writes exports, clears away what is old."""
