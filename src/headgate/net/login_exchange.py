"""Logins are sent through the gates, as light requests without a credential."""

from typing import Final

import msgspec

from headgate.core.url import normalize_rest
from headgate.net.gated import GatedExchange, NetDeps, RequestContext
from headgate.net.login import LoginMessage, LoginReply
from headgate.net.response import BodyTooLarge
from headgate.net.routes import Routes
from headgate.ports.gate import UNHEARD
from headgate.ports.wire import WireRequest

REPLY_BYTES: Final = 1_000_000


class LoginExchange:
    def __init__(self, deps: NetDeps, routes: Routes) -> None:
        self._deps = deps
        self._routes = routes

    async def send(self, login: LoginMessage, context: RequestContext) -> LoginReply:
        """Send a login in the turn of the request that needs it, and record its call there."""
        place, rest = self._routes.find(login.url, login.provider)
        # The request that waits for the login counts its own waiting, and may be cancelled.
        turn = msgspec.structs.replace(context.turn, waits=UNHEARD)
        exchange = GatedExchange(
            self._deps, place, RequestContext(turn, context.record, light=True, bare=True)
        )
        given = {name for name, _ in login.headers}
        headers = [*(each for each in place.headers if each[0] not in given), *login.headers]
        url = place.text + normalize_rest(rest)
        await exchange.send(WireRequest("POST", url, headers, login.body, place.patience))
        try:
            body = await exchange.read(REPLY_BYTES)
            if body is None:
                raise BodyTooLarge(login.url, REPLY_BYTES)
        finally:
            await exchange.close()
        return LoginReply(exchange.status, body, exchange.sent_s)
