"""Handlers as users choose among them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.handlers.registry import load_all


class HandlerInfo(msgspec.Struct, frozen=True):
    """What can be said of a handler without running it."""

    name: str
    """What a job asks for it by."""
    about: str = ""
    provider: str | None = None
    strategies: tuple[str, ...] = ()
    pack: int | None = None
    timeout_s: float | None = None
    version: str = ""
    needs: tuple[str, ...] = ()
    """The columns that a row must have."""
    guarded: bool = False
    """Private addresses are refused when it asks them."""
    asks: tuple[str, ...] = ()
    """The addresses that it asks for every row."""
    config_schema: Mapping[str, Any] | None = None


def describe(references: Sequence[str]) -> list[HandlerInfo]:
    """Every handler that has a name, in order of names.

    It imports users' code: whoever must not do that asks `app.handler_list`.
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
