"""The tokens that one request uses: which it sends, and what follows from a 401."""

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import TYPE_CHECKING

from headgate.net.login import LoginFailed
from headgate.net.tokens import LoginToken, LoginTokens
from headgate.ports.gate import Permit

if TYPE_CHECKING:
    from headgate.net.gated import RequestContext


class TokenStep(Enum):
    AGAIN = "again"
    """There is a newer token already."""
    RENEW = "renew"
    STOP = "stop"
    """No other token is worth a request: the response is the answer."""


class TokenUse:
    """A request that may carry the token of a login."""

    MOST = 3
    """Most times that a request is sent again after a 401; a token with a very short life ends
    before it arrives."""

    __slots__ = ("_context", "_generation", "_provider", "_refused", "_renewed", "_tokens")

    def __init__(self, tokens: LoginTokens, provider: str, context: "RequestContext") -> None:
        self._tokens = tokens
        self._provider = provider
        self._context = context
        self._generation = 0
        self._refused = 0
        self._renewed = False

    async def enter(self, enter_gates: Callable[[], Awaitable[Permit]]) -> Permit:
        """Enter with a token that may be sent. No place at the gates is held during a login."""
        renewed = set[LoginToken]()
        only = self._tokens.only(self._provider)
        if only is not None and not only.is_ready:
            await only.renew(self._context)
            renewed.add(only)
        while True:
            permit = await enter_gates()
            token = self._token(permit)
            # A token whose life is shorter than the wait at the gates is sent all the same.
            if token is None or token.is_ready or (token in renewed and not token.is_busy):
                return permit
            permit.withdraw()
            await self.renew(permit)
            renewed.add(token)

    def is_recalled(self, permit: Permit) -> bool:
        """Whether the gate has closed since, or a login has begun."""
        token = self._token(permit)
        return permit.recalled() or (token is not None and token.is_busy)

    def begin(self, permit: Permit) -> None:
        """The request is sent now, with the present token."""
        token = self._token(permit)
        self._generation = 0 if token is None else token.generation

    def next_step(self, permit: Permit, status: int) -> TokenStep:
        """What to do about a response; a refusal that is worth another token is counted."""
        token = self._token(permit)
        if token is None or status != 401:
            if token is not None and status < 400:
                token.accept(self._generation)
            return TokenStep.STOP
        self._refused += 1
        if self._refused > self.MOST:
            return TokenStep.STOP
        if self._generation < token.generation:
            return TokenStep.AGAIN
        if self._renewed or not (token.is_busy or token.is_worth_renewing):
            return TokenStep.STOP
        self._renewed = True
        return TokenStep.RENEW

    async def renew(self, permit: Permit, *, refused: bool = False) -> None:
        """Log in. If that is refused and the pool has another credential, bench this one."""
        token = self._token(permit)
        if token is None:
            return
        try:
            await token.renew(self._context, refused=refused)
        except LoginFailed as failed:
            if not (failed.is_final and permit.bench(str(failed))):
                raise

    def _token(self, permit: Permit) -> LoginToken | None:
        name = permit.credential
        return None if name is None else self._tokens.of(self._provider, name)
