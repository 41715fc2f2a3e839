"""Check the fixed addresses of a handler's requests before a job begins."""

from collections.abc import Sequence
from typing import Protocol

from headgate.core.address import address_refusal
from headgate.core.errors import UsageError
from headgate.core.url import parse_origin, split_origin

LOCAL = "localhost"


class Asking(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def guarded(self) -> bool:
        """True if requests to private addresses are refused."""
        ...

    @property
    def asks(self) -> Sequence[str]:
        """URLs that it requests for every row."""
        ...


def require_public(handler: Asking, *, allow_private: bool) -> None:
    """Raise UsageError if the handler requests an address that is not allowed."""
    if allow_private or not handler.guarded:
        return
    for url in handler.asks:
        host = parse_origin(split_origin(url)[0]).host.strip("[]")
        loopback = host == LOCAL or host.endswith(f".{LOCAL}")
        kind = "loopback" if loopback else address_refusal(host)
        if kind not in {None, "not an address"}:
            raise UsageError(
                f"{handler.name} requests {url}, which is {kind} and not public: every row would be"
                " refused. `allow_private = true` under [net] in headgate.toml permits it"
            )
