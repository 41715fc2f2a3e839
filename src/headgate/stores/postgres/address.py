"""A store's URL: what libpq gets of it, what is ours, and what may be shown."""

from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from headgate.core.errors import BadSetting

OFF = frozenset({"off", "false", "0", "no"})
ON = frozenset({"on", "true", "1", "yes"})


class Address(NamedTuple):
    """Where the database is, and whether its bell may be used.

    `?notify=off` is for transaction poolers: behind them neither LISTEN nor prepared statements
    belong to one client for longer than a transaction.
    """

    conninfo: str
    shown: str
    notify: bool


def read_address(url: str) -> Address:
    """Split a URL into the three."""
    parts = urlsplit(url)
    kept, notify = [], True
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name != "notify":
            kept.append((name, value))
        elif value.lower() in OFF | ON:
            notify = value.lower() in ON
        else:
            raise BadSetting(f"notify={value} in the database URL: write notify=on or notify=off")
    conninfo = urlunsplit(parts._replace(query=urlencode(kept)))
    secret = [(name, "***" if name == "password" else value) for name, value in kept]
    user, at, host = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    netloc = f"{name}:***{at}{host}" if colon else parts.netloc
    shown = urlunsplit(parts._replace(netloc=netloc, query=urlencode(secret, safe="*")))
    return Address(conninfo, shown, notify)
