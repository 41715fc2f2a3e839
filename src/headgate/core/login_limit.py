"""The number of logins that may be tried, and the wait before the next one.

Each key has an allowance that refills evenly, and one number in the store: the time at which the
allowance is full again. Tries are counted before the password is checked, so that parallel tries
count like sequential ones.
"""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

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


def allowances(tries: int) -> dict[LoginScope, LoginAllowance]:
    """The limits that follow from `server.login_tries`."""
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


class Counted(NamedTuple):
    full_at: int = 0
    """When its allowance is full again, in UTC microseconds."""
    known_until: int = 0
    """Until when the address is known to the account; only for pairs."""


class LoginVerdict(NamedTuple):
    wait_us: int
    """Microseconds to wait before the next try; 0: the try may continue, and is counted."""
    charged: Mapping[LoginScope, int]
    """The new `full_at` of each scope that the try counts for."""


def is_known(counted: Mapping[LoginScope, Counted], now: int) -> bool:
    """Whether the account has logged in from the address within the last days."""
    return counted.get(LoginScope.PAIR, Counted()).known_until > now


def judge(
    counted: Mapping[LoginScope, Counted], limits: Mapping[LoginScope, LoginAllowance], now: int
) -> LoginVerdict:
    """Decide on a try.

    Once an account has logged in from an address, only the limit of that pair applies there. So
    strangers elsewhere cannot lock the owner out, and tries for other accounts from a shared
    address cannot either.
    """
    scopes = (LoginScope.PAIR,) if is_known(counted, now) else tuple(LoginScope)
    wait_us, charged = 0, {}
    for scope in scopes:
        allowance = limits[scope]
        full_at = max(counted.get(scope, Counted()).full_at, now) + allowance.step_us
        wait_us = max(wait_us, full_at - now - allowance.window_us)
        charged[scope] = full_at
    return LoginVerdict(wait_us, {} if wait_us > 0 else charged)
