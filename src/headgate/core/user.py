"""Who may do what: users, their roles, and the tokens they show."""

from enum import StrEnum

import msgspec


class Role(StrEnum):
    """What a user may do; each may also do what those before it may."""

    VIEWER = "viewer"
    """Look at what is theirs."""
    USER = "user"
    """Make and steer jobs of their own."""
    ADMIN = "admin"
    """See and steer everything."""


RANKS = tuple(Role)


def weaker(one: Role, other: Role) -> Role:
    """The role that may do less: a token never gives more than its user has."""
    return min(one, other, key=RANKS.index)


class User(msgspec.Struct, frozen=True):
    """Somebody who may own jobs; the name is what stands in `owner`."""

    name: str
    role: Role
    has_password: bool
    created_at: int
    disabled_at: int | None = None


class TokenKind(StrEnum):
    """What a token is shown for."""

    API = "api"
    """In the header of a script's requests."""
    LOGIN = "login"
    """In a browser's cookie."""
    LINK = "link"
    """In a login link, once."""


class Token(msgspec.Struct, frozen=True):
    """A secret that stands for a user. Only its digest is kept."""

    id: str
    user: str
    kind: TokenKind
    role: Role
    label: str
    created_at: int
    expires_at: int | None
    last_used_at: int | None = None
    revoked_at: int | None = None
