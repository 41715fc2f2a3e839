"""Users and tokens."""

from typing import Any

from headgate.client.errors import UserNotFound
from headgate.client.transport import ApiRequest, Transport, as_json, segment
from headgate.client.values import Listed, Moment, Wired
from headgate.core.user import Role, TokenKind


class User(Wired, frozen=True, kw_only=True):
    """Somebody who may own jobs."""

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
    """A token that was made just now."""

    token: str
    """The secret: shown this once."""

    def __repr__(self) -> str:
        return f"NewToken(id={self.id!r}, user={self.user!r}, role={self.role!r})"


class Me(Wired, frozen=True, kw_only=True):
    """Whose token this is."""

    name: str
    role: Role


class Users:
    """Verbs over users; for admins."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self) -> list[User]:
        """Everybody, by name."""
        return (await self._wire.value(ApiRequest(path="/api/users"), Listed[User])).items

    async def add(self, name: str, role: Role = Role.USER, password: str | None = None) -> User:
        """Make a user; without a password, only tokens let them in."""
        said = {"name": name, "role": role, "password": password}
        return await self._wire.value(_said("POST", "/api/users", said), User)

    async def change(
        self, name: str, *, role: Role | None = None, password: str | None = None
    ) -> User:
        """Give a user another role or password."""
        return await self._change(name, {"role": role, "password": password})

    async def disable(self, name: str) -> User:
        """Let a user in no more; their jobs stay."""
        return await self._change(name, {"disabled": True})

    async def enable(self, name: str) -> User:
        """Let a disabled user in again; their old tokens stay revoked."""
        return await self._change(name, {"disabled": False})

    async def _change(self, name: str, said: dict[str, Any]) -> User:
        asked = _said("PATCH", f"/api/users/{segment(name)}", said)
        return await self._wire.value(asked, User)


class Tokens:
    """Verbs over tokens: one's own, or (admins) everybody's."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self) -> list[Token]:
        """The tokens that hold."""
        return (await self._wire.value(ApiRequest(path="/api/tokens"), Listed[Token])).items

    async def add(
        self,
        user: str | None = None,
        *,
        label: str = "",
        role: Role | None = None,
        expires_in_s: float | None = None,
    ) -> NewToken:
        """Make a token, for oneself or (admins) for others; its secret is shown once."""
        said = {"user": user, "label": label, "role": role, "expiresInS": expires_in_s}
        return await self._wire.value(_said("POST", "/api/tokens", said), NewToken)

    async def revoke(self, token_id: str) -> None:
        """End a token at once."""
        await self._wire.done(ApiRequest(method="DELETE", path=f"/api/tokens/{segment(token_id)}"))


def _said(method: str, path: str, said: dict[str, Any]) -> ApiRequest:
    body, headers = as_json({name: value for name, value in said.items() if value is not None})
    return ApiRequest(method=method, path=path, body=body, headers=headers, absent=UserNotFound)
