"""Turns rows of both databases into jobs, users, tokens, exports, counts and logins."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import CapReached, NameTaken, UnknownUser
from headgate.core.job import Counts, Job
from headgate.core.user import (
    RANKS,
    CountedLogins,
    LoginScope,
    LoginVerdict,
    Role,
    Token,
    TokenKind,
    User,
)
from headgate.core.words import counted
from headgate.ports.access import LoginCount, LoginTry, NewToken, UserChange
from headgate.ports.exports import ExportRecord
from headgate.ports.jobs import ItemHistory
from headgate.ports.reads import AttemptRow, ExportRow
from headgate.stores.listing import STATUSES

MICROSECONDS = 1_000_000
USE_NOTED_US = 60_000_000
"""Microseconds. The use of a token is stored at most this often: a read should not need a write."""


def as_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def as_json_or_none(value: object) -> str | None:
    return None if value is None else as_json(value)


def job_from(row: Mapping[str, Any]) -> Job:
    names = ("key_columns", "config", "columns", "ingest", "reading", "options")
    parsed = {name: None if row[name] is None else msgspec.json.decode(row[name]) for name in names}
    flags = {name: bool(row[name]) for name in ("open", "eager", "ingest_complete")}
    return msgspec.convert({**row, **parsed, **flags}, Job)


def user_from(row: Mapping[str, Any]) -> User:
    return User(
        row["name"],
        Role(row["role"]),
        row["password_hash"] is not None,
        row["created_at"],
        row["disabled_at"],
    )


def token_from(row: Mapping[str, Any]) -> Token:
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


def unknown_user(name: str) -> UnknownUser:
    return UnknownUser(f"user {name!r} does not exist")


def name_taken(name: str) -> NameTaken:
    return NameTaken(f"user {name!r} already exists. Choose another name")


def change_in_words(name: str, change: UserChange, revoked: int) -> str:
    """A change of a user in words, without any secret."""
    parts = [f"role {change.role}"] if change.role is not None else []
    parts += ["a new password"] if change.password_hash is not None else []
    parts += ["enabled"] if change.disabled is False else []
    parts += ["disabled"] if change.disabled else []
    parts += [f"{counted(revoked, 'token')} revoked"] if change.disabled or revoked else []
    return f"{name}: {', '.join(parts) or 'nothing'}"


def ended_by(change: UserChange, before: Role) -> tuple[str, dict[str, str | None]] | None:
    """The query that revokes the tokens that a change ends, and its values; None without any."""
    if change.disabled:
        return "revoke_tokens", {}
    if change.password_hash is not None:
        return "revoke_tokens_of_password", {"asked_with": change.asked_with}
    if change.role is not None and RANKS.index(change.role) < RANKS.index(before):
        return "revoke_tokens_of_role", {}
    return None


def require_enabled(row: Mapping[str, Any] | None, new: NewToken) -> User:
    """The user in a row; UnknownUser unless a token may be made for them."""
    if row is None or row["disabled_at"] is not None:
        raise unknown_user(new.user)
    if new.password_hash is not None and new.password_hash != row["password_hash"]:
        raise unknown_user(new.user)
    return user_from(row)


def require_room_for_token(new: NewToken, held: int) -> None:
    if new.most is not None and held >= new.most:
        raise CapReached(f"{new.user} has {held:,} tokens, the most that is allowed. Revoke one")


def in_us(seconds: float | None) -> int | None:
    """Microseconds; None stays None."""
    return None if seconds is None else int(seconds * MICROSECONDS)


def use_is_news(token: Token, now: int) -> bool:
    """True if the use of a token at `now` should be stored."""
    return token.last_used_at is None or now - token.last_used_at >= USE_NOTED_US


def export_from(row: Mapping[str, Any]) -> ExportRecord:
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
    return Counts(**{status.lower(): int(n) for status, n in rows})


def histories(rows: Sequence[ExportRow], attempts: Iterable[Sequence[Any]]) -> list[ItemHistory]:
    """Each row with its attempts; the first value of an attempt is its item."""
    found: dict[int, list[AttemptRow]] = {row.id: [] for row in rows}
    for item_id, *attempt in attempts:
        found[item_id].append(AttemptRow(*attempt))
    return [ItemHistory(row, found[row.id]) for row in rows]


def counted_in(
    tried: LoginTry, rows: Iterable[Mapping[str, Any]]
) -> dict[LoginScope, CountedLogins]:
    """The stored count of each scope of a login try."""
    found = {row["key"]: CountedLogins(row["full_at"], row["known_until"]) for row in rows}
    return {scope: found[key] for scope, key in tried.keys.items() if key in found}


def login_count(verdict: LoginVerdict) -> LoginCount:
    return LoginCount(verdict.wait_us / MICROSECONDS, frozenset(verdict.charged))
