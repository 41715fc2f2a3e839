"""Users and tokens: who is asking, and how much of the store may be theirs."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from headgate.core.login_limit import LoginAllowance, LoginScope
from headgate.core.user import Role, Token, TokenKind, User


class NewUser(msgspec.Struct, frozen=True):
    """A user to be made; without a password hash, only tokens let them in."""

    name: str
    role: Role
    password_hash: str | None = None


class UserChange(msgspec.Struct, frozen=True):
    """What is to be different about a user; None: that stays."""

    role: Role | None = None
    password_hash: str | None = None
    disabled: bool | None = None
    """True: let in no more, and all their tokens revoked. False: let in again."""
    asked_with: str | None = None
    """The id of the token that asks for the change. A new password leaves it alone."""


class NewToken(msgspec.Struct, frozen=True):
    """A token to be kept: never the secret, only its digest."""

    id: str
    user: str
    digest: str
    kind: TokenKind
    role: Role
    label: str = ""
    lives_s: float | None = None
    """Seconds until it expires, on the store's clock; None: never."""
    opened_by: str | None = None
    """The token that it was made with. It ends no later than that one, and with its revocation."""
    renewed_s: float | None = None
    """Seconds until it ends unless it is renewed; None: it need not be."""
    password_hash: str | None = None
    """What the password was checked against. UnknownUser if the user has another one by now."""
    most: int | None = None
    """CapReached if the user has that many API tokens already; None: any number."""


class Bearer(msgspec.Struct, frozen=True):
    """A token that holds, and the user that it stands for."""

    token: Token
    user: User


class Usage(msgspec.Struct, frozen=True):
    """How much an owner has under way."""

    unfinished_jobs: int
    open_items: int


class AccessStore(Protocol):
    """Every change writes an event that names who was changed, never a secret."""

    async def add_user(self, new: NewUser) -> User:
        """Make a user; NameTaken if there is one."""
        ...

    async def change_user(self, name: str, change: UserChange) -> User:
        """Give another role or password, disable or enable; UnknownUser if there is none.

        A new password revokes all tokens of the user. A lower role revokes their sessions, and what
        they made for others.
        """
        ...

    async def user(self, name: str) -> tuple[User, str | None]:
        """A user and the hash of their password, or UnknownUser."""
        ...

    async def users(self) -> list[User]:
        """Everybody, by name."""
        ...

    async def add_token(self, new: NewToken) -> Token:
        """Keep a token; UnknownUser if there is no such user or they are disabled."""
        ...

    async def renew_token(self, token_id: str, renewed_s: float) -> bool:
        """Let a token hold that much longer from now; False if it was revoked."""
        ...

    async def bearer(self, digest: str, kind: TokenKind) -> Bearer | None:
        """Whose token that is, if it holds. Notes the use, at most once a minute.

        None if it is unknown, of another kind, expired, not renewed, revoked or of a disabled user,
        or if that is so of a token that it was made with. A session among those may have expired.
        """
        ...

    async def redeem(self, digest: str) -> Bearer | None:
        """As `bearer` for a LINK, which is revoked in the same step: the second gets None."""
        ...

    async def tokens(self, user: str | None) -> list[Token]:
        """The tokens of a user (None: of all) that hold, newest first."""
        ...

    async def revoke_token(self, token_id: str, user: str | None) -> bool:
        """End a token at once, and all that was made with it.

        False if `user` (None: anybody) has no such token that holds.
        """
        ...

    async def end_session(self, token_id: str) -> None:
        """Let a session expire now. What was made in it goes on."""
        ...

    async def usage(self, owner: str) -> Usage:
        """How much an owner has under way, from the maintained counters."""
        ...


class LoginTry(msgspec.Struct, frozen=True):
    """A login that a client asks for, before anything of it is checked."""

    keys: Mapping[LoginScope, str]
    """What it is counted under, from `core.login_limit.login_keys`."""
    limits: Mapping[LoginScope, LoginAllowance]


class LoginCount(msgspec.Struct, frozen=True):
    """What came of a try."""

    wait_s: float
    """How long to wait before the next one; 0: it was counted and may go on."""
    charged: frozenset[LoginScope] = frozenset()


class LoginStore(Protocol):
    """Counts on arrival, in one step: of many that come at once, no more go on than are allowed."""

    async def knows(self, tried: LoginTry) -> bool:
        """Whether the account has logged in from the address within the last days."""
        ...

    async def count(self, tried: LoginTry) -> LoginCount:
        """Count a try, unless a limit is reached. A try that is turned away writes nothing."""
        ...

    async def succeeded(self, tried: LoginTry, counted: LoginCount) -> None:
        """Take the try off the count again, and know the address of the account from now on."""
        ...
