"""The output folder of downloads: files whole, once each, under names of their own."""
