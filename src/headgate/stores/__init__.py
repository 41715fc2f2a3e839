"""The stores: one folder for each database, with the same file names in each."""
