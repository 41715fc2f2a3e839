"""Users and tokens."""

from typing import Any

from headgate.client.errors import UserNotFound
from headgate.client.transport import ApiRequest, Transport, as_json, segment
from headgate.client.values import Listed, Moment, Wired
from headgate.core.user import Role, TokenKind


class User(Wired, frozen=True, kw_only=True):
    name: str
    role: Role
    has_password: bool
    created_at: Moment
    disabled_at: Moment = None


class Token(Wired, frozen=True, kw_only=True):
    """A token, without its secret."""

    id: str
    user: str
    kind: TokenKind
    role: Role
    label: str
    created_at: Moment
    expires_at: Moment = None
    last_used_at: Moment = None


class NewToken(Token, frozen=True, kw_only=True):
    """A token that was just made."""

    token: str
    """The secret, returned only this once."""

    def __repr__(self) -> str:
        return f"NewToken(id={self.id!r}, user={self.user!r}, role={self.role!r})"


class Me(Wired, frozen=True, kw_only=True):
    """The user of this client's token."""

    name: str
    role: Role


class Users:
    """For admins only."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self) -> list[User]:
        return (await self._wire.value(ApiRequest(path="/api/users"), Listed[User])).items

    async def add(self, name: str, role: Role = Role.USER, password: str | None = None) -> User:
        """Make a user; without a password, the user can log in only with tokens."""
        body = {"name": name, "role": role, "password": password}
        return await self._wire.value(_request("POST", "/api/users", body), User)

    async def change(
        self, name: str, *, role: Role | None = None, password: str | None = None
    ) -> User:
        return await self._change(name, {"role": role, "password": password})

    async def disable(self, name: str) -> User:
        """Stop a user from logging in; the user's jobs stay."""
        return await self._change(name, {"disabled": True})

    async def enable(self, name: str) -> User:
        """Let a disabled user log in again; the old tokens stay revoked."""
        return await self._change(name, {"disabled": False})

    async def _change(self, name: str, body: dict[str, Any]) -> User:
        asked = _request("PATCH", f"/api/users/{segment(name)}", body)
        return await self._wire.value(asked, User)


class Tokens:
    """Tokens of this user; admins see the tokens of all users."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self) -> list[Token]:
        """The tokens that are neither revoked nor expired."""
        return (await self._wire.value(ApiRequest(path="/api/tokens"), Listed[Token])).items

    async def add(
        self,
        user: str | None = None,
        *,
        label: str = "",
        role: Role | None = None,
        expires_in_s: float | None = None,
    ) -> NewToken:
        """Make a token for this user or (admins) for another; its secret is returned only once."""
        body = {"user": user, "label": label, "role": role, "expiresInS": expires_in_s}
        return await self._wire.value(_request("POST", "/api/tokens", body), NewToken)

    async def revoke(self, token_id: str) -> None:
        await self._wire.done(ApiRequest(method="DELETE", path=f"/api/tokens/{segment(token_id)}"))


def _request(method: str, path: str, body: dict[str, Any]) -> ApiRequest:
    content, headers = as_json({name: value for name, value in body.items() if value is not None})
    return ApiRequest(method=method, path=path, body=content, headers=headers, absent=UserNotFound)
