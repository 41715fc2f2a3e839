"""Users, their roles, and their tokens."""

from enum import StrEnum

import msgspec


class Role(StrEnum):
    """Rights of a user; each role includes the rights of the roles before it."""

    VIEWER = "viewer"
    """See their own jobs."""
    USER = "user"
    """Make and control their own jobs."""
    ADMIN = "admin"
    """See and control everything."""


RANKS = tuple(Role)


def weaker(one: Role, other: Role) -> Role:
    """The role with fewer rights: a token never gives more than its user has."""
    return min(one, other, key=RANKS.index)


class User(msgspec.Struct, frozen=True):
    """An account that may own jobs; `owner` holds its name."""

    name: str
    role: Role
    has_password: bool
    created_at: int
    disabled_at: int | None = None


class TokenKind(StrEnum):
    """How a token is used."""

    API = "api"
    """In the header of a script's requests."""
    LOGIN = "login"
    """In a browser's cookie."""
    LINK = "link"
    """In a login link, once."""


class Token(msgspec.Struct, frozen=True):
    """A secret that authenticates a user. Only its digest is stored."""

    id: str
    user: str
    kind: TokenKind
    role: Role
    label: str
    created_at: int
    expires_at: int | None
    last_used_at: int | None = None
    revoked_at: int | None = None
