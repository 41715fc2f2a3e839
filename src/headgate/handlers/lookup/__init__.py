"""`http.lookup`: a TOML file or a job's config describes a request per row and its reply."""

from headgate.handlers.lookup.handler import HTTP_LOOKUP, check_config, of_config, of_file

__all__ = ["HTTP_LOOKUP", "check_config", "of_config", "of_file"]
