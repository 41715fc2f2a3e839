"""`http.lookup`: a described request for each row, and a described reading of its reply."""

from headgate.handlers.lookup.handler import HTTP_LOOKUP, check_config, of_config, of_file

__all__ = ["HTTP_LOOKUP", "check_config", "of_config", "of_file"]
