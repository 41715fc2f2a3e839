"""Ten thousand small GETs: the client with its gates standing open, and the bare wire."""
