"""Users and API tokens."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from msgspec.structs import asdict
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Admin, CurrentUser, Principal, Writer, maker_of
from headgate.app.api.models import RequestModel
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.credentials import hash_password, new_token
from headgate.app.schema_values import token_view, user_view
from headgate.core.user import (
    RANKS,
    SHORTEST_PASSWORD,
    Role,
    TokenKind,
    password_weakness,
)
from headgate.ports.access import NewToken, NewUser, UserChange
from headgate.schema.access import NewTokenView, TokenView, UserView
from headgate.schema.values import Listed

users = APIRouter(prefix="/api/users", tags=["access"], route_class=BoundedRoute)
tokens = APIRouter(prefix="/api/tokens", tags=["access"], route_class=BoundedRoute)

NAME = r"^[a-z0-9][a-z0-9._@-]{0,63}$"
Name = Annotated[str, Path(alias="name", max_length=64)]


class UserRequest(RequestModel):
    name: str = Field(pattern=NAME, examples=["ann"])
    role: Role = Field(Role.USER, strict=False)
    password: str | None = Field(None, min_length=SHORTEST_PASSWORD, max_length=1_000)


@users.get("", responses=documented())
async def ls(who: Admin, app_state: State) -> Listed[UserView]:
    """List users by name."""
    return Listed(items=[user_view(user) for user in await app_state.store.access.users()])


@users.post("", status_code=201, responses=documented(409))
async def add(asked: UserRequest, who: Admin, app_state: State) -> UserView:
    """Create a user. Without a password, they can use tokens only."""
    new = NewUser(asked.name, asked.role, await _kept(app_state, asked.password, asked.name))
    return user_view(await app_state.store.access.add_user(new))


class UserChangeRequest(RequestModel):
    """Fields that are missing stay unchanged."""

    role: Role | None = Field(None, strict=False)
    password: str | None = Field(None, min_length=SHORTEST_PASSWORD, max_length=1_000)
    disabled: bool | None = Field(
        None, description="true: disable the account and revoke its tokens. false: enable it."
    )


@users.patch("/{name}", responses=documented(409))
async def change(name: Name, asked: UserChangeRequest, who: Admin, app_state: State) -> UserView:
    """Change a user's role or password, or disable the account. Their jobs stay.

    Tokens never have more rights than the role. A new password revokes all tokens and sessions of
    the user, except the one in use. A lower role ends their sessions, and the tokens that they
    created for others.
    """
    if name == who.name and asked.role not in {None, who.role}:
        raise ProblemResponse(409, "you cannot lower your own role; ask another admin")
    if name == who.name and asked.disabled:
        raise ProblemResponse(409, "you cannot disable your own account; ask another admin")
    kept = await _kept(app_state, asked.password, name)
    wanted = UserChange(asked.role, kept, asked.disabled, asked_with=who.token_id)
    return user_view(await app_state.store.access.change_user(name, wanted))


async def _kept(app_state: AppState, password: str | None, name: str) -> str | None:
    if password is None:
        return None
    if weakness := password_weakness(password, name):
        raise ProblemResponse(422, weakness)
    return await app_state.threads.passwords.run(hash_password, password)


class TokenRequest(RequestModel):
    user: str | None = Field(None, max_length=64, description="Owner of the token; admins only.")
    label: str = Field("", max_length=200)
    role: Role | None = Field(None, strict=False, description="At most the user's own role.")
    expires_in_s: float | None = Field(None, gt=0, le=10 * 366 * 86_400)


@tokens.get("", responses=documented())
async def ls_tokens(who: CurrentUser, app_state: State) -> Listed[TokenView]:
    """List valid tokens, newest first: one's own, or everyone's for admins."""
    found = await app_state.store.access.tokens(who.sees)
    return Listed(items=[token_view(token) for token in found])


@tokens.post("", status_code=201, responses=documented(429))
async def add_token(
    asked: TokenRequest, request: Request, who: Writer, app_state: State
) -> NewTokenView:
    """Create an API token. Its secret is shown once.

    The token expires no later than the token that creates it, and is revoked with it.
    """
    user = asked.user or who.name
    if user != who.name and who.role is not Role.ADMIN:
        raise ProblemResponse(403, "only admins can create tokens for other users")
    role = asked.role or await _role_of(app_state, who, user)
    if RANKS.index(role) > RANKS.index(who.role):
        raise ProblemResponse(
            403, f"your role is {who.role}; you cannot create a token with the role {role}"
        )
    made = new_token()
    new = NewToken(
        made.id,
        user,
        made.digest,
        TokenKind.API,
        role,
        asked.label,
        asked.expires_in_s,
        opened_by=maker_of(who, request, app_state),
        most=app_state.settings.server.tokens_per_user,
    )
    token = await app_state.store.access.add_token(new)
    return NewTokenView(**asdict(token_view(token)), token=made.secret)


@tokens.delete("/{tokenId}", status_code=204, responses=documented())
async def revoke(
    token_id: Annotated[str, Path(alias="tokenId", max_length=64)],
    who: CurrentUser,
    app_state: State,
) -> Response:
    """Revoke a token at once, with all tokens, sessions and streams that were opened with it."""
    if not await app_state.store.access.revoke_token(token_id, who.sees):
        raise ProblemResponse(404, f"token {token_id[:64]!r} not found, or not valid any more")
    return Response(status_code=204)


async def _role_of(app_state: AppState, who: Principal, user: str) -> Role:
    if user == who.name:
        return who.role
    return (await app_state.store.access.user(user))[0].role
