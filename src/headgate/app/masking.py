"""What is shown of texts that may hold secrets."""

from collections.abc import Mapping
from typing import Any

from headgate.app.telemetry import SECRET_NAME, redacted
from headgate.core.secret import without_secrets


def shown_source(source: str) -> str:
    """Where a job's rows come from, without credentials."""
    return redacted(without_secrets(source))


def shown_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """A job's configuration without what looks like a secret."""
    return {name: _shown(name, value) for name, value in config.items()}


def _shown(name: str, value: Any) -> Any:
    if SECRET_NAME.search(name):
        return "***"
    if isinstance(value, Mapping):
        return shown_config(value)
    return redacted(value) if isinstance(value, str) else value
