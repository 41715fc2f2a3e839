"""What we take from hishel: its states of RFC 9111, and none of its storages.

Where redis is installed, hishel imports it for a storage of its own: 20 MB and a third of a second
in each process that makes a request. It is told that there is none.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast


@contextmanager
def _absent(name: str) -> Iterator[None]:
    """Let imports believe that a module is not installed, unless it is in use already."""
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
