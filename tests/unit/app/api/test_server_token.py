"""The token of a server is renewed for as long as the server runs."""

import asyncio
from pathlib import Path

from headgate.app.api.server import RENEW_EVERY_S, RENEWED_S, keep_token
from headgate.core.user import Role, TokenKind
from headgate.ports.access import NewToken, NewUser
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock


async def test_a_token_is_valid_while_it_is_renewed_and_then_expires(tmp_path: Path):
    clock = FakeClock()
    async with SqliteStore(tmp_path / "headgate.db", clock.now) as store:
        await store.access.add_user(NewUser("local", Role.ADMIN))
        await store.access.add_token(
            NewToken("own", "local", "digest", TokenKind.API, Role.ADMIN, renewed_s=RENEWED_S)
        )
        renewing = asyncio.ensure_future(keep_token(store.access, "own", clock, lambda: None))
        for _ in range(2 * int(RENEWED_S / RENEW_EVERY_S)):
            await clock.until_asleep()
            assert await store.access.bearer("digest", TokenKind.API) is not None
            await clock.advance(RENEW_EVERY_S)
        await clock.until_asleep()
        renewing.cancel()
        await asyncio.wait([renewing])
        await clock.advance(RENEWED_S)
        assert await store.access.bearer("digest", TokenKind.API) is None
