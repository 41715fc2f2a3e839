"""Tries of logins, counted for all servers on one store."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from headgate.core.login_limit import LoginAllowance, LoginScope


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
