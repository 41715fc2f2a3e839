"""Authentication: an API token in the header, or a session cookie with a CSRF token."""

import hmac
import ipaddress
from typing import Annotated

import msgspec
from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from headgate.app.api.problems import ProblemResponse
from headgate.app.api.state import AppState, State
from headgate.app.credentials import csrf_token, token_digest
from headgate.core.address import client_address, is_trusted, parse_networks
from headgate.core.user import RANKS, Role, TokenKind, weaker_role
from headgate.ports.access import Bearer

COOKIE = "headgate_session"
CSRF_HEADER = "X-CSRF-Token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-real-ip"})
"""Headers that a proxy adds to forwarded requests."""

_bearer = HTTPBearer(
    auto_error=False, description="An API token: `headgate users token NAME` creates one."
)
_cookie = APIKeyCookie(
    name=COOKIE, auto_error=False, description="A browser's session; see `/api/login`."
)


class Principal(msgspec.Struct, frozen=True):
    name: str
    role: Role
    token_id: str
    csrf: str | None = None
    """CSRF token that a page must send; None with an API token."""

    @property
    def sees(self) -> str | None:
        """The owner whose jobs are visible; None: all jobs."""
        return None if self.role is Role.ADMIN else self.name

    def may(self, role: Role) -> bool:
        return RANKS.index(self.role) >= RANKS.index(role)


async def identify(
    request: Request,
    app_state: State,
    header: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    cookie: Annotated[str | None, Depends(_cookie)],
) -> Principal:
    """Return the caller, or raise 401."""
    if header is not None:
        found = await app_state.store.access.bearer(token_digest(header.credentials), TokenKind.API)
        if found is not None:
            return _principal(found)
    elif cookie:
        found = await app_state.store.access.bearer(token_digest(cookie), TokenKind.LOGIN)
        if found is not None:
            _require_own_page(request, cookie)
            return _principal(found, csrf_token(cookie))
    raise ProblemResponse(
        401,
        "this token is unknown, expired or revoked"
        if header or cookie
        else "send an API token in the Authorization header, or log in at /login",
        {"WWW-Authenticate": "Bearer"},
    )


def _principal(found: Bearer, csrf: str | None = None) -> Principal:
    role = weaker_role(found.token.role, found.user.role)
    return Principal(found.user.name, role, found.token.id, csrf)


def _require_own_page(request: Request, secret: str) -> None:
    """Require the CSRF header: any page can send the cookie, only ours knows the value."""
    if request.method in SAFE:
        return
    shown = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(shown.encode(), csrf_token(secret).encode()):
        raise ProblemResponse(
            403, f"send the value of `csrf` from /api/me in the header {CSRF_HEADER}"
        )


CurrentUser = Annotated[Principal, Depends(identify)]


async def _writer(who: CurrentUser) -> Principal:
    if not who.may(Role.USER):
        raise ProblemResponse(
            403, "viewers have read-only access; ask an admin for the role `user`"
        )
    return who


async def _admin(who: CurrentUser) -> Principal:
    if not who.may(Role.ADMIN):
        raise ProblemResponse(403, "only admins can do this")
    return who


Writer = Annotated[Principal, Depends(_writer)]
Admin = Annotated[Principal, Depends(_admin)]


async def optional_user(request: Request, app_state: State) -> Principal | None:
    """Return the caller if there is one. The OpenAPI document lists no security for it."""
    try:
        return await require_user(request, app_state)
    except ProblemResponse:
        return None


OptionalUser = Annotated[Principal | None, Depends(optional_user)]


async def require_user(request: Request, app_state: AppState) -> Principal:
    """Return the caller, or raise 401. For use outside FastAPI's dependencies."""
    return await identify(request, app_state, await _bearer(request), await _cookie(request))


async def require_admin(request: Request, app_state: AppState) -> Principal:
    """Return an admin, or raise 403. For endpoints that need one only sometimes."""
    return await _admin(await require_user(request, app_state))


async def is_still(who: Principal, request: Request, app_state: AppState) -> bool:
    """Return whether the caller of a long request is still allowed in with the same role."""
    return await optional_user(request, app_state) == who


def maker_of(who: Principal | Bearer, request: Request, app_state: AppState) -> str | None:
    """Return the token that a new token or session ends with; None if it does not depend on one.

    A caller on this machine with the token of the running server is the operator, who could do the
    same with the command line.
    """
    token_id = who.token_id if isinstance(who, Principal) else who.token.id
    return None if token_id == app_state.own_token and is_loopback(request) else token_id


def client_of(request: Request, app_state: AppState) -> str:
    """Return the address of the client, as a trusted proxy names it or else of the connection."""
    trusted = parse_networks(app_state.settings.server.trusted_proxies)
    return client_address(_peer(request), request.headers.getlist("x-forwarded-for"), trusted)


def is_https(request: Request, app_state: AppState) -> bool:
    """Return whether the client used HTTPS, as far as the server and its trusted proxies know."""
    server = app_state.settings.server
    if server.https or request.url.scheme == "https":
        return True
    forwarded = ",".join(request.headers.getlist("x-forwarded-proto")).rpartition(",")[2]
    is_named_https = forwarded.strip().lower() == "https"
    return is_named_https and is_trusted(_peer(request), parse_networks(server.trusted_proxies))


def _peer(request: Request) -> str:
    return request.client.host if request.client else ""


def is_loopback(request: Request) -> bool:
    """Return whether the request came from this machine and not through a proxy on it."""
    if not FORWARDED.isdisjoint(name.lower() for name in request.headers):
        return False
    try:
        address = ipaddress.ip_address(_peer(request))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
