"""hishel's states of RFC 9111, without its storages.

Where redis is installed, hishel imports it for one of its storages: 20 MB and a third of a second
in each process that makes a request. This module hides redis from that import.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast


@contextmanager
def _absent(name: str) -> Iterator[None]:
    """Make imports fail as if a module were not installed, unless it is already imported."""
    modules = cast("dict[str, Any]", sys.modules)
    if name in modules:
        yield
        return
    modules[name] = None
    try:
        yield
    finally:
        del modules[name]


with _absent("redis"):
    from hishel import (
        AnyState,
        CacheMiss,
        CacheOptions,
        Entry,
        Headers,
        InvalidateEntries,
        NeedRevalidation,
        NeedToBeUpdated,
        Request,
        Response,
        StoreAndUse,
    )

__all__ = [
    "AnyState",
    "CacheMiss",
    "CacheOptions",
    "Entry",
    "Headers",
    "InvalidateEntries",
    "NeedRevalidation",
    "NeedToBeUpdated",
    "Request",
    "Response",
    "StoreAndUse",
]
