"""From rows of both databases to users and tokens, and how changes of them are told."""

from collections.abc import Mapping
from typing import Any

from headgate.core.errors import NameTaken, UnknownUser
from headgate.core.user import Role, Token, TokenKind, User
from headgate.core.words import counted
from headgate.ports.access import UserChange

USE_NOTED_US = 60_000_000
"""The use of a token is noted at most this often: a reader should not have to write."""


def user_from(row: Mapping[str, Any]) -> User:
    """The user in a row of the users table."""
    return User(
        row["name"],
        Role(row["role"]),
        row["password_hash"] is not None,
        row["created_at"],
        row["disabled_at"],
    )


def token_from(row: Mapping[str, Any]) -> Token:
    """The token in a row of the tokens table."""
    return Token(
        row["id"],
        row["user_name"],
        TokenKind(row["kind"]),
        Role(row["role"]),
        row["label"],
        row["created_at"],
        row["expires_at"],
        row["last_used_at"],
        row["revoked_at"],
    )


def nobody(name: str) -> UnknownUser:
    """What to say where a user is missing."""
    return UnknownUser(f"there is no user {name!r}")


def taken(name: str) -> NameTaken:
    """What to say where there is such a user."""
    return NameTaken(f"there is a user {name!r} already: take another name")


def change_told(name: str, change: UserChange, revoked: int) -> str:
    """A change of a user in words, without any secret."""
    told = [f"role {change.role}"] if change.role is not None else []
    told += ["a new password"] if change.password_hash is not None else []
    told += ["enabled"] if change.disabled is False else []
    told += [f"disabled, {counted(revoked, 'token')} revoked"] if change.disabled else []
    return f"{name}: {', '.join(told) or 'nothing'}"


def use_is_news(token: Token, now: int) -> bool:
    """Whether the use of a token at `now` is worth a write."""
    return token.last_used_at is None or now - token.last_used_at >= USE_NOTED_US
