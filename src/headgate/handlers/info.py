"""The list of handlers that users choose from."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.handlers.registry import load_all


class HandlerInfo(msgspec.Struct, frozen=True):
    name: str
    """The name by which a job refers to the handler."""
    about: str = ""
    provider: str | None = None
    strategies: tuple[str, ...] = ()
    pack: int | None = None
    timeout_s: float | None = None
    version: str = ""
    needs: tuple[str, ...] = ()
    """The columns that a row must have."""
    guarded: bool = False
    """Whether requests to private addresses are refused."""
    asks: tuple[str, ...] = ()
    """The fixed origins that are asked for every row."""
    config_schema: Mapping[str, Any] | None = None


def describe(references: Sequence[str]) -> list[HandlerInfo]:
    """Return every handler that has a name, sorted by name.

    This imports users' code; `app.handler_list` does so in another process.
    """
    return [
        HandlerInfo(
            name=name,
            about=spec.about,
            provider=spec.provider,
            strategies=spec.strategies,
            pack=spec.pack,
            timeout_s=spec.timeout_s,
            version=spec.version,
            needs=spec.needs,
            guarded=spec.guarded,
            asks=spec.asks,
            config_schema=spec.config_schema,
        )
        for name, spec in sorted(load_all(references).items())
    ]
