"""Logging in and out, in a browser."""

import asyncio
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from starlette.responses import RedirectResponse

from headgate.app.api.bodies import KB, BoundedRoute, takes
from headgate.app.api.identity import COOKIE, Anybody, Principal, Someone, client_of
from headgate.app.api.office import AtOffice, Office
from headgate.app.api.problems import Refusal, documented
from headgate.app.api.wire import Asked, Wire
from headgate.app.credentials import csrf_of, digest_of, fits, mint
from headgate.core.errors import UnknownUser
from headgate.core.user import Role, TokenKind, weaker
from headgate.ports.access import NewToken

router = APIRouter(tags=["access"], route_class=BoundedRoute)

SLOW = asyncio.Semaphore(2)
"""A password costs 32 MB and a tenth of a second to check, on purpose."""


class LoginAsked(Asked):
    """A name with its password, or an API token."""

    name: str | None = Field(None, max_length=64)
    password: str | None = Field(None, max_length=1_000)
    token: str | None = Field(None, max_length=200)


class Visitor(NamedTuple):
    """Who logs in, as what, and by which token."""

    name: str
    role: Role
    token_id: str | None = None


class Me(Wire):
    """Who is logged in."""

    name: str
    role: Role
    csrf: str | None
    """For the header `X-CSRF-Token`; null where a token in the header lets in."""


@router.post("/api/login", responses=documented())
@takes(4 * KB)
async def login(asked: LoginAsked, request: Request, response: Response, office: AtOffice) -> Me:
    """Open a session by password or token; the answer sets a cookie."""
    keys = (f"name:{asked.name}" if asked.name else "token", f"address:{client_of(request)}")
    rest_s = office.logins.wait_s(*keys)
    if rest_s > 0:
        raise Refusal(
            429, f"too many failures: try again in {rest_s:.0f} s", {"Retry-After": f"{rest_s:.0f}"}
        )
    checked = await _checked(asked, office)
    if checked is None:
        office.logins.failed(*keys)
        what = "the token" if asked.token else "the name or the password"
        raise Refusal(401, f"{what} is wrong")
    secret = await _open_session(office, checked)
    _set_cookie(response, request, secret, office.settings.server.session_s)
    return Me(name=checked.name, role=checked.role, csrf=csrf_of(secret))


@router.post("/api/logout", status_code=204, responses=documented())
async def logout(who: Someone, response: Response, office: AtOffice) -> Response:
    """Close the session; an API token is no session, and stays."""
    if who.csrf is not None:
        await office.store.access.revoke_token(who.token_id, who.name)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/")
    return response


@router.get("/api/me", responses=documented())
async def me(who: Someone) -> Me:
    """Tell who is logged in."""
    return _me(who)


class Session(Wire):
    """A browser's session, if it has one."""

    me: Me | None


@router.get("/api/session", responses=documented())
async def session(who: Anybody) -> Session:
    """Tell who is logged in, if anybody is: a page asks before it shows a login."""
    return Session(me=None if who is None else _me(who))


@router.get("/login/link", include_in_schema=False)
async def by_link(
    request: Request, office: AtOffice, token: Annotated[str, Query(max_length=200)]
) -> Response:
    """Open a session with the link that the server printed; it works once."""
    found = await office.store.access.redeem(digest_of(token))
    if found is None:
        if "text/html" in request.headers.get("accept", ""):
            return RedirectResponse("/login?link=used", 303)
        raise Refusal(401, "this link was used before or is too old; start the server again")
    secret = await _open_session(office, Visitor(found.user.name, found.token.role))
    response = RedirectResponse("/", 303)
    _set_cookie(response, request, secret, office.settings.server.session_s)
    return response


def _me(who: Principal) -> Me:
    return Me(name=who.name, role=who.role, csrf=who.csrf)


async def _checked(asked: LoginAsked, office: Office) -> Visitor | None:
    """Who that is, and as what: a token never opens more than it lets in to itself."""
    access = office.store.access
    if asked.token:
        found = await access.bearer(digest_of(asked.token), TokenKind.API)
        if found is None:
            return None
        role = weaker(found.token.role, found.user.role)
        own = found.token.id == office.own_token
        return Visitor(found.user.name, role, None if own else found.token.id)
    if not asked.name or asked.password is None:
        raise Refusal(422, "send `name` and `password`, or `token`")
    try:
        user, kept = await access.user(asked.name)
    except UnknownUser:
        user, kept = None, None
    async with SLOW:
        right = await office.threads.passwords.run(fits, asked.password, kept)
    if not right or user is None or user.disabled_at is not None:
        return None
    return Visitor(user.name, user.role)


async def _open_session(office: Office, who: Visitor) -> str:
    made = mint()
    new = NewToken(
        made.id,
        who.name,
        made.digest,
        TokenKind.LOGIN,
        who.role,
        "browser",
        lives_s=office.settings.server.session_s,
        opened_by=who.token_id,
    )
    await office.store.access.add_token(new)
    return made.secret


def _set_cookie(response: Response, request: Request, secret: str, life_s: float) -> None:
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(life_s),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
