"""Where a handler failed, as text for the store; this process knows which files are whose."""

import linecache
import os
import sys
from functools import cache
from pathlib import Path

import msgspec

from headgate.core.trace import Grounds, trace_of


def traced(error: BaseException) -> str | None:
    """The trace of an exception as JSON, or None if the user's code had no part in it."""
    try:
        trace = trace_of(error, _grounds(tuple(sys.path)))
    except Exception:  # noqa: BLE001  exceptions are somebody else's code; one may lie about itself
        return None
    return None if trace is None else msgspec.json.encode(trace).decode()


@cache
def _grounds(imported_from: tuple[str, ...]) -> Grounds:
    try:
        project = str(Path.cwd())
    except OSError:  # the folder is gone
        project = ""
    return Grounds(
        headgate=_clean(str(Path(__file__).parents[1])),
        interpreter=_clean(str(Path(os.__file__).parent)),
        project=_clean(project),
        code_at=linecache.getline,
        roots=tuple(_clean(root) for root in imported_from if Path(root).is_absolute()),
    )


def _clean(path: str) -> str:
    return path.replace("\\", "/").rstrip("/")
