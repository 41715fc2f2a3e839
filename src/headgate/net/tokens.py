"""Tokens that logins bring: in memory only, one login at a time, renewed before they end."""

import asyncio
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING

from headgate.core.fault import AttemptOver
from headgate.core.login import REFRESH, LoginPolicy
from headgate.core.provider import CredentialPolicy, ProviderPolicy
from headgate.net.credentials import Credential, Credentials, login_fields
from headgate.net.login import LoginFailed, LoginProblem, SendLogin, login_request, read_token
from headgate.ports.clock import Clock

if TYPE_CHECKING:
    from headgate.net.gated import RequestContext


class LoginToken:
    """The token of one credential in this process, with a number that grows with each login."""

    LEAST_S = 1.0
    """Seconds for which a new token is used, however short its life."""
    RETRY_S = 10.0
    """Seconds until the next try to renew a token that is still valid."""
    REFUSED_S = 60.0
    """Seconds for which a login that was refused, or did not help, is not tried again. A service
    may lock an account after several wrong passwords."""

    def __init__(
        self, provider: str, name: str, policy: CredentialPolicy, tokens: "LoginTokens"
    ) -> None:
        self._provider = provider
        self._name = name
        self._policy = policy
        self._tokens = tokens
        self.generation = 0
        self._login: asyncio.Task[None] | None = None
        self._renew_at_s = -inf
        self._ends_at_s = -inf
        self._since_s = -inf
        self._follows_refusal = False
        self._accepted = False
        self._rotated = ""
        """The refresh token of the last reply, which replaces the configured one."""
        self._failure: LoginFailed | None = None
        self._failed_at_s = -inf

    @property
    def is_busy(self) -> bool:
        """A login is under way: what is sent now would carry the old token."""
        return self._login is not None

    @property
    def is_ready(self) -> bool:
        """A token is there, and need not be renewed yet."""
        return self._login is None and self._now() < self._renew_at_s

    @property
    def is_worth_renewing(self) -> bool:
        """After a 401: False if the last login followed a 401 too and its token never worked."""
        in_vain = self._follows_refusal and not self._accepted
        return not in_vain or self._now() >= self._since_s + self.REFUSED_S

    def accept(self, generation: int) -> None:
        """The service answered a request with this token."""
        if generation == self.generation:
            self._accepted = True

    async def renew(self, context: "RequestContext", *, refused: bool = False) -> None:
        """Log in, or wait for the login that is under way.

        `refused`: the present token was refused, so it is of no use if the login fails.
        """
        login = self._login or self._begin(context, refused=refused)
        waits = context.turn.waits
        waits.begin()
        try:
            # Other requests wait for this login too: it goes on if this one is cancelled.
            await asyncio.shield(login)
        finally:
            waits.end()

    async def close(self) -> None:
        if self._login is not None:
            self._login.cancel()
            await asyncio.wait((self._login,))

    def _begin(self, context: "RequestContext", *, refused: bool) -> "asyncio.Task[None]":
        login = asyncio.ensure_future(self._try(context, refused=refused))
        login.add_done_callback(self._end)
        self._login = login
        return login

    def _end(self, login: "asyncio.Task[None]") -> None:
        self._login = None
        if not login.cancelled():
            # asyncio would log the error if every request that waited was cancelled.
            login.exception()  # noqa: LOG004  a task, not a logger

    async def _try(self, context: "RequestContext", *, refused: bool) -> None:
        try:
            await self._log_in(context, refused=refused)
        except AttemptOver:
            if refused or self._now() >= self._ends_at_s:
                raise
            self._renew_at_s = min(self._now() + self.RETRY_S, self._ends_at_s)

    async def _log_in(self, context: "RequestContext", *, refused: bool) -> None:
        if self._failure is not None and self._now() < self._failed_at_s + self.REFUSED_S:
            raise self._failure
        fields = login_fields(self._provider, self._name, self._policy)
        login = self._policy.login
        if fields is None or login is None:
            self._tokens.credentials.replace(self._provider, self._name, None)
            self._renew_at_s = inf
            return
        if self._rotated and REFRESH in fields:
            fields[REFRESH] = self._rotated
        reply = await self._tokens.send(login_request(self._provider, login, fields), context)
        try:
            token = read_token(login, reply)
        except LoginProblem as problem:
            raise self._failed(problem) from None
        self._rotated = token.refresh_token or self._rotated
        self._replace(token.value, refused=refused)
        self._schedule(login, reply.sent_s, token.life_s)

    def _failed(self, problem: LoginProblem) -> LoginFailed:
        failure = LoginFailed(self._provider, self._name, problem)
        if failure.is_final:
            self._failure, self._failed_at_s = failure, self._now()
            self._rotated = ""  # an operator may have configured a new one
        return failure

    def _replace(self, value: str, *, refused: bool) -> None:
        credential = Credential(self._policy, value)
        self._tokens.credentials.replace(self._provider, self._name, credential)
        self.generation += 1
        self._since_s = self._now()
        self._follows_refusal = refused
        self._accepted = False
        self._failure = None

    def _schedule(self, login: LoginPolicy, sent_s: float, life_s: float | None) -> None:
        if life_s is None:
            self._renew_at_s = self._ends_at_s = inf
            return
        self._ends_at_s = sent_s + life_s
        renew_at_s = sent_s + life_s * login.refresh_at
        self._renew_at_s = max(renew_at_s, self._now() + self.LEAST_S)

    def _now(self) -> float:
        return self._tokens.clock.monotonic()


class LoginTokens:
    """The tokens of all credentials with a login."""

    send: SendLogin
    """Set by the stack: a login passes the same gates as other requests, which need these tokens.
    """

    def __init__(
        self, providers: Mapping[str, ProviderPolicy], credentials: Credentials, clock: Clock
    ) -> None:
        self._providers = providers
        self.credentials = credentials
        self.clock = clock
        self._tokens: dict[tuple[str, str], LoginToken] = {}

    def of(self, provider: str, name: str) -> LoginToken | None:
        """The token of a credential; None if that has no login."""
        found = self._tokens.get((provider, name))
        if found is None:
            policy = self._providers[provider].credentials.get(name)
            if policy is None or policy.login is None:
                return None
            found = self._tokens[provider, name] = LoginToken(provider, name, policy, self)
        return found

    def only(self, provider: str) -> LoginToken | None:
        """The token of the provider's only credential; None if it has a pool."""
        names = [*self._providers[provider].credentials]
        return self.of(provider, names[0]) if len(names) == 1 else None

    async def close(self) -> None:
        for token in self._tokens.values():
            await token.close()
