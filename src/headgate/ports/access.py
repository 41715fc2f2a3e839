"""Users, tokens and logins in the store."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from headgate.core.user import LoginAllowance, LoginScope, Role, Token, TokenKind, User


class NewUser(msgspec.Struct, frozen=True):
    """A user to be made. Without a password hash, the user can log in only with tokens."""

    name: str
    role: Role
    password_hash: str | None = None


class UserChange(msgspec.Struct, frozen=True):
    """Changes to a user; None: no change."""

    role: Role | None = None
    password_hash: str | None = None
    disabled: bool | None = None
    """True: the user cannot log in, and all their tokens are revoked. False: the user can log in
    again."""
    asked_with: str | None = None
    """The id of the token that asks for the change. A new password does not revoke this token."""


class NewToken(msgspec.Struct, frozen=True):
    """A token to be stored: its digest, never its secret."""

    id: str
    user: str
    digest: str
    kind: TokenKind
    role: Role
    label: str = ""
    lives_s: float | None = None
    """Seconds until it expires, on the store's clock; None: never."""
    opened_by: str | None = None
    """The token that it was made with. The new token ends no later than that one, and is revoked
    with it."""
    renewed_s: float | None = None
    """Seconds until it ends unless it is renewed; None: it need not be renewed."""
    password_hash: str | None = None
    """The hash that the password was checked against. UnknownUser if the user has another one by
    now."""
    most: int | None = None
    """CapReached if the user already has this number of API tokens; None: any number."""


class Bearer(msgspec.Struct, frozen=True):
    token: Token
    user: User


class Usage(msgspec.Struct, frozen=True):
    unfinished_jobs: int
    open_items: int


class AccessStore(Protocol):
    """Every change writes an event that names the changed user, never a secret."""

    async def add_user(self, new: NewUser) -> User:
        """NameTaken if the name exists."""
        ...

    async def change_user(self, name: str, change: UserChange) -> User:
        """Change role or password, disable or enable; UnknownUser if there is none.

        A new password revokes all tokens of the user. A lower role revokes the user's sessions, and
        the tokens that the user made for others.
        """
        ...

    async def user(self, name: str) -> tuple[User, str | None]:
        """Raises UnknownUser. The second value is the hash of the password."""
        ...

    async def users(self) -> list[User]:
        """In order of name."""
        ...

    async def add_token(self, new: NewToken) -> Token:
        """Store a token; UnknownUser if the user does not exist or is disabled."""
        ...

    async def renew_token(self, token_id: str, renewed_s: float) -> bool:
        """Extend a token to `renewed_s` seconds from now; False if it was revoked."""
        ...

    async def bearer(self, digest: str, kind: TokenKind) -> Bearer | None:
        """The token and its user, if the token is valid. Notes the use, at most once a minute.

        None if the token is unknown, of another kind, expired, not renewed, revoked or of a
        disabled user, or if this is true of a token that it was made with. A session that it was
        made with may have expired.
        """
        ...

    async def redeem(self, digest: str) -> Bearer | None:
        """Like `bearer` for a LINK, which is revoked in the same step: a second call gets None."""
        ...

    async def tokens(self, user: str | None) -> list[Token]:
        """The valid tokens of a user (None: of all users), newest first."""
        ...

    async def revoke_token(self, token_id: str, user: str | None) -> bool:
        """Revoke a token and all tokens that were made with it.

        False if `user` (None: any user) has no valid token with this id.
        """
        ...

    async def end_session(self, token_id: str) -> None:
        """Let a session expire now. Tokens made in it stay valid."""
        ...

    async def usage(self, owner: str) -> Usage:
        """Read from the maintained counters."""
        ...


class LoginTry(msgspec.Struct, frozen=True):
    keys: Mapping[LoginScope, str]
    """The keys that it is counted under, from `core.login_limit.login_keys`."""
    limits: Mapping[LoginScope, LoginAllowance]


class LoginCount(msgspec.Struct, frozen=True):
    wait_s: float
    """Seconds to wait before the next try; 0: the try was counted and may continue."""
    charged: frozenset[LoginScope] = frozenset()


class LoginStore(Protocol):
    """Counts tries on arrival in one step, so that parallel tries cannot exceed a limit."""

    async def knows(self, tried: LoginTry) -> bool:
        """Whether the account has logged in from the address within the last days."""
        ...

    async def count(self, tried: LoginTry) -> LoginCount:
        """Count a try, unless a limit is reached. A refused try writes nothing."""
        ...

    async def succeeded(self, tried: LoginTry, counted: LoginCount) -> None:
        """Take the try off the count, and remember the address for the account."""
        ...
