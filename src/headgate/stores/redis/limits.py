"""The shared limits on Redis: one script swaps many gates, on the server's clock.

The operator chooses how much of it survives a crash of the server. With `appendonly yes` and
`appendfsync always` no accepted change is lost; with `everysec` at most a second; with snapshots
only, everything since the last one. Lost changes are learned again, from the last stored state: a
ledger that forgets costs refusals, never items.
"""

import secrets
from collections.abc import Sequence
from importlib import resources
from types import TracebackType
from typing import Any, Self

from headgate.ports.limits import Exchange, LedgerEntry, Proposal
from headgate.stores.ledger import KeptEntry, exchange_of, in_order, keys_named, tickets
from headgate.stores.redis.connection import RedisConnection
from headgate.stores.redis.notifier import RedisNotifier

PACKAGE = "headgate.stores.redis"
PAGE = 500


class RedisLimits:
    """A LimitLedger for any number of hosts. Needs Redis 6 or newer, or a compatible server.

    All projects that name the same server and prefix share their limits.
    """

    def __init__(self, url: str, *, prefix: str = "headgate", patience_s: float = 60.0) -> None:
        self._server = RedisConnection(url, patience_s=patience_s)
        self._gates = f"{prefix}:gates"
        self._gate = f"{prefix}:gate:"
        self._channel = f"{prefix}:urgent"
        self._sender = secrets.token_hex(8)
        self._tickets = tickets(self._sender)
        self._notifier = RedisNotifier(self._server, self._channel, self._sender)
        self._swap = self._server.client.register_script(_script("exchange.lua"))
        self._drop = self._server.client.register_script(_script("forget.lua"))

    async def __aenter__(self) -> Self:
        """Open; StoreUnreachable if the server does not answer."""
        await self._server.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._notifier.close()
        await self._server.close()

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        ordered = in_order(proposals)
        named = keys_named(ordered, keys)
        ticket = next(self._tickets)
        words: list[Any] = [ticket, self._sender, self._channel, len(ordered)]
        for each in ordered:
            words += [each.key, each.version, each.state, int(each.urgent)]
        places = [self._gates, *(self._gate + key for key in named)]

        now_us, *gates = await self._server.patiently(lambda: self._swap(places, words))
        kept = [
            KeptEntry(key, int(version), state, mark)
            for key, (version, state, mark) in zip(named, gates, strict=True)
        ]
        return exchange_of(int(now_us), named, kept, ticket)

    async def entries(self, prefix: str = "") -> Sequence[LedgerEntry]:
        names = await self._names(prefix)
        found: list[LedgerEntry] = []
        for start in range(0, len(names), PAGE):
            page = (await self.exchange([], names[start : start + PAGE])).entries
            # A gate may have been forgotten since the names were read.
            found += [entry for entry in page if entry.version]
        return found

    async def forget(self, key: str) -> bool:
        words = [next(self._tickets), self._sender, self._channel, key]
        places = [self._gates, self._gate + key]
        return bool(await self._server.patiently(lambda: self._drop(places, words)))

    async def wait_urgent(self, timeout_s: float) -> bool:
        return await self._notifier.wait(timeout_s)

    async def _names(self, prefix: str) -> list[str]:
        # No byte of UTF-8 is 0xff, so this is greater than every name with the prefix.
        begin, end = b"[" + prefix.encode(), b"[" + prefix.encode() + b"\xff"
        names = await self._server.patiently(
            lambda: self._server.client.zrangebylex(self._gates, begin, end)
        )
        return [str(name) for name in names]


def _script(name: str) -> str:
    return resources.files(PACKAGE).joinpath(name).read_text("utf-8")
