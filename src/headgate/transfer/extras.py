"""Optional dependencies."""

from importlib.util import find_spec

from headgate.core.errors import UsageError


def need(module: str, extra: str) -> None:
    """Raise UsageError with the pip command if a library is missing."""
    if find_spec(module) is None:
        raise UsageError(f'this needs {module}: pip install "headgate[{extra}]"')
