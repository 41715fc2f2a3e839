"""What was counted of logins, from rows of both databases."""

from collections.abc import Iterable, Mapping
from typing import Any

from headgate.core.login_limit import Counted, LoginScope, LoginVerdict
from headgate.ports.logins import LoginCount, LoginTry

MICROSECONDS = 1_000_000


def counted_in(tried: LoginTry, rows: Iterable[Mapping[str, Any]]) -> dict[LoginScope, Counted]:
    """What the store holds of each scope of a try."""
    found = {row["key"]: Counted(row["full_at"], row["known_until"]) for row in rows}
    return {scope: found[key] for scope, key in tried.keys.items() if key in found}


def told(verdict: LoginVerdict) -> LoginCount:
    """A verdict as the port gives it."""
    return LoginCount(verdict.wait_us / MICROSECONDS, frozenset(verdict.charged))
