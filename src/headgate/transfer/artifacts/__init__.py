"""The output folder of downloads: each file is complete, stored once and has its own name."""
