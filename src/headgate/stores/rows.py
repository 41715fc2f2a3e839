"""From rows of both databases to users and tokens, and how changes of them are told."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import CapReached, NameTaken, UnknownUser
from headgate.core.job import Counts
from headgate.core.login_limit import Counted, LoginScope, LoginVerdict
from headgate.core.user import RANKS, Role, Token, TokenKind, User
from headgate.core.words import counted
from headgate.ports.access import LoginCount, LoginTry, NewToken, UserChange
from headgate.ports.exports import ExportRecord
from headgate.ports.job_reads import ItemHistory
from headgate.ports.reads import AttemptRow, ExportRow
from headgate.stores.listing import STATUSES

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
    ends = [row[name] for name in ("expires_at", "until_at") if row[name] is not None]
    return Token(
        row["id"],
        row["user_name"],
        TokenKind(row["kind"]),
        Role(row["role"]),
        row["label"],
        row["created_at"],
        min(ends, default=None),
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
    told += ["disabled"] if change.disabled else []
    told += [f"{counted(revoked, 'token')} revoked"] if change.disabled or revoked else []
    return f"{name}: {', '.join(told) or 'nothing'}"


def ended_by(change: UserChange, before: Role) -> tuple[str, dict[str, str | None]] | None:
    """The query that revokes what a change of a user ends, with its values; None: nothing ends."""
    if change.disabled:
        return "revoke_tokens", {}
    if change.password_hash is not None:
        return "revoke_tokens_of_password", {"asked_with": change.asked_with}
    if change.role is not None and RANKS.index(change.role) < RANKS.index(before):
        return "revoke_tokens_of_role", {}
    return None


def require_let_in(row: Mapping[str, Any] | None, new: NewToken) -> User:
    """The user in a row; UnknownUser unless a token may be made for them."""
    if row is None or row["disabled_at"] is not None:
        raise nobody(new.user)
    if new.password_hash is not None and new.password_hash != row["password_hash"]:
        raise nobody(new.user)
    return user_from(row)


def require_room_for_token(new: NewToken, held: int) -> None:
    """Raise CapReached if a user has as many tokens as allowed."""
    if new.most is not None and held >= new.most:
        raise CapReached(
            f"{new.user} has {held:,} tokens, as many as allowed: revoke one that is not needed"
        )


def in_us(seconds: float | None) -> int | None:
    """Microseconds; None stays None."""
    return None if seconds is None else int(seconds * 1_000_000)


def use_is_news(token: Token, now: int) -> bool:
    """Whether the use of a token at `now` is worth a write."""
    return token.last_used_at is None or now - token.last_used_at >= USE_NOTED_US


def export_from(row: Mapping[str, Any]) -> ExportRecord:
    """The export in a row of the exports table."""
    report = None if row["report"] is None else msgspec.json.decode(row["report"])
    options = msgspec.json.decode(row["options"])
    values = {**row, "rows": row["written"], "options": options, "report": report}
    return msgspec.convert(values, ExportRecord)


def export_rows(rows: Iterable[Sequence[Any]]) -> list[ExportRow]:
    """The rows of the query `export_rows` or `rows_by_key`."""
    return [
        ExportRow(item_id, key, STATUSES[status], given, result, error_class, error)
        for item_id, key, status, given, result, error_class, error in rows
    ]


def counts_of(rows: Iterable[Sequence[Any]]) -> Counts:
    """Counters of statuses and their numbers."""
    return Counts(**{status.lower(): int(n) for status, n in rows})


def histories(rows: Sequence[ExportRow], attempts: Iterable[Sequence[Any]]) -> list[ItemHistory]:
    """Each row with its attempts; of these, the first value names the item."""
    found: dict[int, list[AttemptRow]] = {row.id: [] for row in rows}
    for item_id, *attempt in attempts:
        found[item_id].append(AttemptRow(*attempt))
    return [ItemHistory(row, found[row.id]) for row in rows]


MICROSECONDS = 1_000_000


def counted_in(tried: LoginTry, rows: Iterable[Mapping[str, Any]]) -> dict[LoginScope, Counted]:
    """What the store holds of each scope of a try."""
    found = {row["key"]: Counted(row["full_at"], row["known_until"]) for row in rows}
    return {scope: found[key] for scope, key in tried.keys.items() if key in found}


def told(verdict: LoginVerdict) -> LoginCount:
    """A verdict as the port gives it."""
    return LoginCount(verdict.wait_us / MICROSECONDS, frozenset(verdict.charged))
