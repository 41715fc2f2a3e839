"""Sources and their mirrors, for commands and the API."""
