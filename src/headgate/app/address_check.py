"""Addresses that a handler asks for every row, looked at before a job begins."""

from collections.abc import Sequence
from typing import Protocol

from headgate.core.address import refusal_of
from headgate.core.errors import UsageError
from headgate.core.url import parse_origin, split_origin

LOCAL = "localhost"


class Asking(Protocol):
    """A handler, or what is known of one."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def guarded(self) -> bool:
        """Whether private addresses are refused when it asks them."""
        ...

    @property
    def asks(self) -> Sequence[str]:
        """The addresses that it asks for every row."""
        ...


def require_public(handler: Asking, *, allow_private: bool) -> None:
    """UsageError if the handler asks an address that its requests may not go to."""
    if allow_private or not handler.guarded:
        return
    for url in handler.asks:
        host = parse_origin(split_origin(url)[0]).host.strip("[]")
        loopback = host == LOCAL or host.endswith(f".{LOCAL}")
        kind = "loopback" if loopback else refusal_of(host)
        if kind not in {None, "not an address"}:
            raise UsageError(
                f"{handler.name} asks {url}, which is {kind} and not public: every row would be"
                " refused. `allow_private = true` under [net] in headgate.toml permits it"
            )
