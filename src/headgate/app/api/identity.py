"""Who is asking: by a token in the header, or by a browser's cookie with proof that it is ours."""

import hmac
import ipaddress
from typing import Annotated

import msgspec
from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from headgate.app.api.problems import ProblemResponse
from headgate.app.api.state import AppState, State
from headgate.app.credentials import csrf_of, digest_of
from headgate.core.client_address import client_address, is_trusted, networks_of
from headgate.core.user import RANKS, Role, TokenKind, weaker
from headgate.ports.access import Bearer

COOKIE = "headgate_session"
CSRF_HEADER = "X-CSRF-Token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-real-ip"})
"""What a proxy adds to the requests of others."""

_bearer = HTTPBearer(
    auto_error=False, description="An API token: `headgate users token NAME` makes one."
)
_cookie = APIKeyCookie(
    name=COOKIE, auto_error=False, description="A browser's session; see `/api/login`."
)


class Principal(msgspec.Struct, frozen=True):
    """Somebody who was let in, and as what."""

    name: str
    role: Role
    token_id: str
    csrf: str | None = None
    """What a page must show in its requests; None for a token in the header."""

    @property
    def sees(self) -> str | None:
        """Whose jobs they see: their own, or (None) everybody's."""
        return None if self.role is Role.ADMIN else self.name

    def may(self, role: Role) -> bool:
        """Whether they may do what that role may."""
        return RANKS.index(self.role) >= RANKS.index(role)


async def identify(
    request: Request,
    app_state: State,
    header: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    cookie: Annotated[str | None, Depends(_cookie)],
) -> Principal:
    """Who is asking, or 401."""
    if header is not None:
        found = await app_state.store.access.bearer(digest_of(header.credentials), TokenKind.API)
        if found is not None:
            return _principal(found)
    elif cookie:
        found = await app_state.store.access.bearer(digest_of(cookie), TokenKind.LOGIN)
        if found is not None:
            _require_own_page(request, cookie)
            return _principal(found, csrf_of(cookie))
    raise ProblemResponse(
        401,
        "this token is unknown, expired or revoked"
        if header or cookie
        else "send an API token in the Authorization header, or log in at /login",
        {"WWW-Authenticate": "Bearer"},
    )


def _principal(found: Bearer, csrf: str | None = None) -> Principal:
    role = weaker(found.token.role, found.user.role)
    return Principal(found.user.name, role, found.token.id, csrf)


def _require_own_page(request: Request, secret: str) -> None:
    """A cookie is sent by whichever page asks; only ours can read the proof."""
    if request.method in SAFE:
        return
    shown = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(shown.encode(), csrf_of(secret).encode()):
        raise ProblemResponse(403, f"send the value of `csrf` from /api/me as {CSRF_HEADER}")


Someone = Annotated[Principal, Depends(identify)]


async def _writer(who: Someone) -> Principal:
    if not who.may(Role.USER):
        raise ProblemResponse(
            403, "a viewer can look, not change; ask an admin for the role `user`"
        )
    return who


async def _admin(who: Someone) -> Principal:
    if not who.may(Role.ADMIN):
        raise ProblemResponse(403, "this is for admins")
    return who


Writer = Annotated[Principal, Depends(_writer)]
Admin = Annotated[Principal, Depends(_admin)]


async def anyone(request: Request, app_state: State) -> Principal | None:
    """Who is asking, if that is known. In the document it needs no proof, so it names none."""
    try:
        return await require_someone(request, app_state)
    except ProblemResponse:
        return None


Anybody = Annotated[Principal | None, Depends(anyone)]


async def require_someone(request: Request, app_state: AppState) -> Principal:
    """Who is asking, or 401, outside of FastAPI's dependencies."""
    return await identify(request, app_state, await _bearer(request), await _cookie(request))


async def require_admin(request: Request, app_state: AppState) -> Principal:
    """An admin, for endpoints that ask for one only at times."""
    return await _admin(await require_someone(request, app_state))


async def is_still(who: Principal, request: Request, app_state: AppState) -> bool:
    """Whether a request that is under way would be let in as before."""
    return await anyone(request, app_state) == who


def maker_of(who: Principal | Bearer, request: Request, app_state: AppState) -> str | None:
    """The token that what is made now shall end with; None: it stands alone.

    Somebody at this machine who has the token of the running server is the operator, who could
    make the same with the command line.
    """
    token_id = who.token_id if isinstance(who, Principal) else who.token.id
    return None if token_id == app_state.own_token and is_loopback(request) else token_id


def client_of(request: Request, app_state: AppState) -> str:
    """The address that a request came from: of the client, where a trusted proxy names it."""
    trusted = networks_of(app_state.settings.server.trusted_proxies)
    return client_address(_peer(request), request.headers.getlist("x-forwarded-for"), trusted)


def is_https(request: Request, app_state: AppState) -> bool:
    """Whether the client asked over https, as far as that is known."""
    server = app_state.settings.server
    if server.https or request.url.scheme == "https":
        return True
    told = ",".join(request.headers.getlist("x-forwarded-proto")).rpartition(",")[2]
    is_told = told.strip().lower() == "https"
    return is_told and is_trusted(_peer(request), networks_of(server.trusted_proxies))


def _peer(request: Request) -> str:
    return request.client.host if request.client else ""


def is_loopback(request: Request) -> bool:
    """Whether it came from this machine, and not from elsewhere by way of a proxy on it."""
    if not FORWARDED.isdisjoint(name.lower() for name in request.headers):
        return False
    try:
        address = ipaddress.ip_address(_peer(request))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
