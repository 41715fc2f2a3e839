"""What descriptions in TOML have in common: explained errors, templates and expressions."""
