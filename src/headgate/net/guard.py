"""The address guard: checks the address of a URL from data when the connection is made.

An earlier check would leave a gap in which a name could change its address. So the guard sits in
the connector: the resolver drops special addresses, and no socket is made for a special address.
Guarded connections have their own pool: a connection that was made without a check must not be
reused for a guarded request.
"""

import socket
from collections.abc import Callable
from typing import Any

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from headgate.core.address import refusal_of
from headgate.net.failure import AddressRefused

SocketFactory = Callable[["AddressInfo"], socket.socket]
AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


class GuardedResolver(AbstractResolver):
    """Resolves names to their public addresses only."""

    def __init__(self, resolver: AbstractResolver | None = None) -> None:
        self._resolver = resolver or ThreadedResolver()

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,
    ) -> list[ResolveResult]:
        """Return the public addresses of a name; AddressRefused if it has only others."""
        found = await self._resolver.resolve(host, port, family)
        public = [one for one in found if refusal_of(one["host"]) is None]
        if found and not public:
            raise AddressRefused(host, str(refusal_of(found[0]["host"])))
        return public

    async def close(self) -> None:
        await self._resolver.close()


def guarded_socket(address: AddressInfo) -> socket.socket:
    """Return a socket for a public address; AddressRefused for any other."""
    family, kind, protocol, _, place = address
    refusal = refusal_of(str(place[0]))
    if refusal is not None:
        raise AddressRefused(str(place[0]), refusal)
    return socket.socket(family, kind, protocol)
