"""Users, tokens and sessions."""

from headgate.core.user import Role, TokenKind
from headgate.schema.values import Identifier, Moment, WireValue


class UserView(WireValue, frozen=True, kw_only=True):
    name: str
    role: Role
    has_password: bool
    created_at: Moment
    disabled_at: Moment


class TokenView(WireValue, frozen=True, kw_only=True):
    """A token without its secret."""

    id: Identifier
    user: str
    kind: TokenKind
    role: Role
    label: str
    created_at: Moment
    expires_at: Moment
    last_used_at: Moment


class NewTokenView(TokenView, frozen=True, kw_only=True):
    token: str
    """The secret. It is shown once."""

    def __repr__(self) -> str:
        return f"NewTokenView(id={self.id!r}, user={self.user!r}, role={self.role!r})"


class Me(WireValue, frozen=True, kw_only=True):
    """The user of a session or of a token."""

    name: str
    role: Role
    csrf: str | None = None
    """Value of the header `X-CSRF-Token`; null with an API token."""

    def __repr__(self) -> str:
        return f"Me(name={self.name!r}, role={self.role!r})"


class BrowserSession(WireValue, frozen=True, kw_only=True):
    me: Me | None
