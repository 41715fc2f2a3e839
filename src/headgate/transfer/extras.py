"""Libraries that are only there if somebody asked for them."""

from importlib.util import find_spec

from headgate.core.errors import UsageError


def need(module: str, extra: str) -> None:
    """UsageError that says how to get a library, if it is absent."""
    if find_spec(module) is None:
        raise UsageError(f'this needs {module}: pip install "headgate[{extra}]"')
