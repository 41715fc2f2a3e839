"""Users: their roles and tokens, the passwords that are accepted, and how many logins may be tried.

For the limit on logins, each key has an allowance that refills evenly, and one number in the store:
the time at which the allowance is full again. Tries are counted before the password is checked, so
that parallel tries count like sequential ones.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

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


def weaker_role(one: Role, other: Role) -> Role:
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


# ---- passwords ----------------------------------------------------------------------------------

SHORTEST_PASSWORD = 10
_ROWS = ("1234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "01234567890123456789"
_COMMON = frozenset(
    {
        "admin",
        "administrator",
        "changeme",
        "changethis",
        "dragon",
        "football",
        "headgate",
        "hello",
        "iloveyou",
        "letmein",
        "login",
        "master",
        "monkey",
        "passphrase",
        "passwd",
        "password",
        "passwort",
        "princess",
        "root",
        "secret",
        "sunshine",
        "superman",
        "test",
        "trustno",
        "user",
        "welcome",
    }
)
"""Words that are not a password, repeated or with any digits and signs around them."""
_LOOKALIKES = str.maketrans("0134578@$!", "oleastbasi")
ADVICE = "use four words that are unrelated"


def password_weakness(password: str, name: str = "") -> str:
    """Why a password is refused, and what to do instead; empty if it is accepted."""
    reason = _reason(password, name)
    return f"the password {reason}: {ADVICE}" if reason else ""


def _reason(password: str, name: str) -> str:
    lower = password.lower()
    bare = "".join(lower.split())
    if len(password) < SHORTEST_PASSWORD:
        return f"has fewer than {SHORTEST_PASSWORD} characters"
    if len(bare) < SHORTEST_PASSWORD // 2:
        return "is nearly all spaces"
    if len(set(bare)) <= 2:
        return "repeats one or two characters"
    unit = _unit(bare)
    if _is_in_order(unit):
        return "is a plain sequence of characters"
    if len(unit) < len(bare) and len(unit) <= 3:
        return "repeats a few characters"
    return _word_reason(lower, unit, name)


def _word_reason(lower: str, unit: str, name: str) -> str:
    own = _letters(name)
    inner = re.sub(r"^[^a-z]+|[^a-z]+$", "", lower)
    words = {_letters(each) for each in (lower, unit, inner.translate(_LOOKALIKES))}
    words |= {_unit(word) for word in words}
    if lower == name.lower() or (own and own in words):
        return "is the name of the user"
    return "is one of the most common ones" if words & _COMMON else ""


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


def _unit(text: str) -> str:
    """The piece that a text repeats: `abc` of `abcabc`; else the whole text."""
    end = (text + text).find(text, 1)
    return text[:end] if 0 < end < len(text) else text


def _is_in_order(text: str) -> bool:
    runs = (*_ROWS, _ALPHABET, _DIGITS)
    return len(text) > 2 and any(text in run or text[::-1] in run for run in runs)


# ---- the limit on logins ------------------------------------------------------------------------

MINUTE_US = 60_000_000
KNOWN_US = 30 * 24 * 60 * MINUTE_US
"""Microseconds for which an address is known to an account after a login."""


class LoginScope(StrEnum):
    PAIR = "pair"
    """Tries for one account from one address. This limit always applies."""
    ADDRESS = "address"
    """Tries for all accounts from one address that is not known to the account."""
    ACCOUNT = "account"
    """Tries for one account from all addresses that are not known to it."""


class LoginAllowance(NamedTuple):
    tries: int
    window_us: int

    @property
    def step_us(self) -> int:
        """Microseconds until one try is available again."""
        return self.window_us // self.tries


def login_allowances(tries: int) -> dict[LoginScope, LoginAllowance]:
    return {
        LoginScope.PAIR: LoginAllowance(tries, 5 * MINUTE_US),
        LoginScope.ADDRESS: LoginAllowance(5 * tries, 5 * MINUTE_US),
        LoginScope.ACCOUNT: LoginAllowance(5 * tries, 60 * MINUTE_US),
    }


def login_keys(account: str, address: str) -> dict[LoginScope, str]:
    """The keys of a try. They are digests: text that a stranger types is not stored."""
    texts = {
        LoginScope.PAIR: f"{account}\n{address}",
        LoginScope.ADDRESS: address,
        LoginScope.ACCOUNT: account,
    }
    return {
        scope: f"{scope}:{sha256(text.encode(errors='surrogatepass')).hexdigest()[:32]}"
        for scope, text in texts.items()
    }


class CountedLogins(NamedTuple):
    full_at: int = 0
    """When its allowance is full again, in UTC microseconds."""
    known_until: int = 0
    """Until when the address is known to the account; only for pairs."""


class LoginVerdict(NamedTuple):
    wait_us: int
    """Microseconds to wait before the next try; 0: the try may continue, and is counted."""
    charged: Mapping[LoginScope, int]
    """The new `full_at` of each scope that the try counts for."""


def is_known(counted: Mapping[LoginScope, CountedLogins], now: int) -> bool:
    """Whether the account has logged in from the address within the last days."""
    return counted.get(LoginScope.PAIR, CountedLogins()).known_until > now


def judge_login(
    counted: Mapping[LoginScope, CountedLogins],
    limits: Mapping[LoginScope, LoginAllowance],
    now: int,
) -> LoginVerdict:
    """Decide whether a login may be tried, or how long to wait.

    Once an account has logged in from an address, only the limit of that pair applies there. So
    strangers elsewhere cannot lock the owner out, and tries for other accounts from a shared
    address cannot either.
    """
    scopes = (LoginScope.PAIR,) if is_known(counted, now) else tuple(LoginScope)
    wait_us, charged = 0, {}
    for scope in scopes:
        allowance = limits[scope]
        full_at = max(counted.get(scope, CountedLogins()).full_at, now) + allowance.step_us
        wait_us = max(wait_us, full_at - now - allowance.window_us)
        charged[scope] = full_at
    return LoginVerdict(wait_us, {} if wait_us > 0 else charged)
