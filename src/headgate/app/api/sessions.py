"""Login, logout and sessions of browsers."""

import math
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from starlette.responses import RedirectResponse

from headgate.app.api.bodies import KB, BoundedRoute, takes
from headgate.app.api.identity import (
    COOKIE,
    CurrentUser,
    OptionalUser,
    Principal,
    client_of,
    is_https,
    maker_of,
)
from headgate.app.api.models import RequestModel
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.credentials import csrf_token, new_token, password_matches, token_digest
from headgate.core.address import login_address
from headgate.core.errors import UnknownUser
from headgate.core.user import Role, TokenKind, login_allowances, login_keys, weaker_role
from headgate.ports.access import LoginTry, NewToken
from headgate.schema.access import BrowserSession, Me

router = APIRouter(tags=["access"], route_class=BoundedRoute)


class LoginRequest(RequestModel):
    """A name with its password, or an API token."""

    name: str | None = Field(None, max_length=64)
    password: str | None = Field(None, max_length=1_000)
    token: str | None = Field(None, max_length=200)


class Visitor(NamedTuple):
    name: str
    role: Role
    token_id: str | None = None
    password_hash: str | None = None


@router.post("/api/login", responses=documented())
@takes(4 * KB)
async def login(asked: LoginRequest, request: Request, response: Response, app_state: State) -> Me:
    """Open a session by password or token. The response sets a cookie."""
    if asked.token:
        checked = await _by_token(asked.token, request, app_state)
    elif asked.name and asked.password is not None:
        checked = await _by_password(asked.name, asked.password, request, app_state)
    else:
        raise ProblemResponse(422, "send `name` and `password`, or `token`")
    secret = await _open_session(app_state, checked)
    _set_cookie(response, request, app_state, secret)
    return Me(name=checked.name, role=checked.role, csrf=csrf_token(secret))


@router.post("/api/logout", status_code=204, responses=documented())
async def logout(who: CurrentUser, response: Response, app_state: State) -> Response:
    """Close the session. An API token stays valid."""
    if who.csrf is not None:
        await app_state.store.access.end_session(who.token_id)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/")
    return response


@router.get("/api/me", responses=documented())
async def me(who: CurrentUser) -> Me:
    """Return the user who is logged in."""
    return _me(who)


@router.get("/api/session", responses=documented())
async def session(who: OptionalUser) -> BrowserSession:
    """Return the user who is logged in, or null. A page asks this before it shows a login."""
    return BrowserSession(me=None if who is None else _me(who))


@router.get("/login/link", include_in_schema=False)
async def by_link(
    request: Request, app_state: State, token: Annotated[str, Query(max_length=200)]
) -> Response:
    """Open a session with the link that the server printed. It works once."""
    found = await app_state.store.access.redeem(token_digest(token))
    if found is None:
        if "text/html" in request.headers.get("accept", ""):
            return RedirectResponse("/login?link=used", 303)
        raise ProblemResponse(
            401, "this link was used before or has expired; restart the server for a new one"
        )
    secret = await _open_session(app_state, Visitor(found.user.name, found.token.role))
    response = RedirectResponse("/", 303)
    _set_cookie(response, request, app_state, secret)
    return response


def _me(who: Principal) -> Me:
    return Me(name=who.name, role=who.role, csrf=who.csrf)


async def _by_token(secret: str, request: Request, app_state: AppState) -> Visitor:
    """Return the user of a token. The session gets no more rights than the token.

    Failures are not counted: 256 random bits cannot be guessed, and a counter would let strangers
    lock users out.
    """
    found = await app_state.store.access.bearer(token_digest(secret), TokenKind.API)
    if found is None:
        raise ProblemResponse(401, "the token is wrong")
    role = weaker_role(found.token.role, found.user.role)
    return Visitor(found.user.name, role, maker_of(found, request, app_state))


async def _by_password(name: str, password: str, request: Request, app_state: AppState) -> Visitor:
    address = login_address(client_of(request, app_state))
    tried = LoginTry(
        login_keys(name, address), login_allowances(app_state.settings.server.login_tries)
    )
    # Hundreds at once, each from another address, must not delay users at their usual address.
    is_known = await app_state.store.logins.knows(tried)
    async with (app_state.known_logins if is_known else app_state.logins).slot(address):
        return await _tried(name, password, tried, app_state)


async def _tried(name: str, password: str, tried: LoginTry, app_state: AppState) -> Visitor:
    store = app_state.store
    counted = await store.logins.count(tried)
    if counted.wait_s > 0:
        wait_s = math.ceil(counted.wait_s)
        raise ProblemResponse(
            429,
            f"too many failed logins; try again in {wait_s} s, or log in with a token",
            {"Retry-After": str(wait_s)},
        )
    try:
        user, kept = await store.access.user(name)
    except UnknownUser:
        user, kept = None, None
    right = await app_state.threads.passwords.run(password_matches, password, kept)
    if not right or user is None or user.disabled_at is not None:
        raise ProblemResponse(401, "wrong name or password")
    await store.logins.succeeded(tried, counted)
    return Visitor(user.name, user.role, password_hash=kept)


async def _open_session(app_state: AppState, who: Visitor) -> str:
    made = new_token()
    new = NewToken(
        made.id,
        who.name,
        made.digest,
        TokenKind.LOGIN,
        who.role,
        "browser",
        lives_s=app_state.settings.server.session_s,
        opened_by=who.token_id,
        password_hash=who.password_hash,
    )
    try:
        await app_state.store.access.add_token(new)
    except UnknownUser:  # disabled, or its password changed, during the check
        raise ProblemResponse(401, "wrong name or password") from None
    return made.secret


def _set_cookie(response: Response, request: Request, app_state: AppState, secret: str) -> None:
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(app_state.settings.server.session_s),
        path="/",
        httponly=True,
        samesite="strict",
        secure=is_https(request, app_state),
    )
