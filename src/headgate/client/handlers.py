"""Handlers: what may be done with an item."""

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.client.values import Wired


class Handler(Wired, frozen=True, kw_only=True):
    """A handler by its name."""

    name: str
    about: str = ""
    provider: str | None = None
    strategies: Sequence[str] = ()
    pack: int | None = None
    version: str = ""
    config: Mapping[str, Any] | None = None
    """What its configuration must look like, as a JSON Schema; None: anything."""
