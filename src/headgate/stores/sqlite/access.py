"""Users, tokens and login attempts on SQLite."""

import json
from typing import Any

import msgspec

from headgate.core.login_limit import KNOWN_US, Counted, LoginScope, LoginVerdict, is_known, judge
from headgate.core.user import Token, TokenKind, User
from headgate.ports.access import Bearer, LoginCount, LoginTry, NewToken, NewUser, Usage, UserChange
from headgate.stores.rows import (
    change_in_words,
    counted_in,
    ended_by,
    in_us,
    login_count,
    name_taken,
    require_enabled,
    require_room_for_token,
    token_from,
    unknown_user,
    use_is_news,
    user_from,
)
from headgate.stores.sqlite.connection import SqliteDatabase, Transaction
from headgate.stores.sqlite.create import usage_of
from headgate.stores.sqlite.records import add_event


class SqliteAccess:
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def add_user(self, new: NewUser) -> User:
        def work(tx: Transaction) -> User:
            row = tx.record(
                "add_user", name=new.name, role=new.role, password_hash=new.password_hash
            )
            if row is None:
                raise name_taken(new.name)
            add_event(tx, "user_added", f"{new.name} as {new.role}")
            return user_from(row)

        return await self._database.write(work)

    async def change_user(self, name: str, change: UserChange) -> User:
        values = msgspec.structs.asdict(change)
        del values["asked_with"]

        def work(tx: Transaction) -> User:
            before = _found(tx.record("user", name=name), name)
            user = _found(tx.record("change_user", name=name, **values), name)
            ended = ended_by(change, before.role)
            revoked = tx.change(ended[0], user=name, **ended[1]) if ended else 0
            add_event(tx, "user_changed", change_in_words(name, change, revoked))
            return user

        return await self._database.write(work)

    async def user(self, name: str) -> tuple[User, str | None]:
        row = await self._database.read(lambda tx: tx.record("user", name=name))
        if row is None:
            raise unknown_user(name)
        return user_from(row), row["password_hash"]

    async def users(self) -> list[User]:
        rows = await self._database.read(lambda tx: tx.records("users"))
        return [user_from(row) for row in rows]

    async def add_token(self, new: NewToken) -> Token:
        return await self._database.write(lambda tx: _add_token(tx, new))

    async def renew_token(self, token_id: str, renewed_s: float) -> bool:
        values = {"id": token_id, "renewed_us": in_us(renewed_s)}
        return await self._database.write(lambda tx: bool(tx.rows("renew_token", **values)))

    async def bearer(self, digest: str, kind: TokenKind) -> Bearer | None:
        def find(tx: Transaction) -> tuple[Bearer | None, bool]:
            found = _bearer(tx, digest, kind)
            return found, found is not None and use_is_news(found.token, tx.now)

        found, news = await self._database.read(find)
        if news and found is not None:
            token_id = found.token.id
            await self._database.write(lambda tx: tx.change("note_use", id=token_id))
        return found

    async def redeem(self, digest: str) -> Bearer | None:
        def work(tx: Transaction) -> Bearer | None:
            found = _bearer(tx, digest, TokenKind.LINK)
            if found is not None:
                tx.change("note_use", id=found.token.id)
                tx.change("revoke_token", id=found.token.id, user=None)
                add_event(tx, "token_redeemed", f"{found.token.id} of {found.user.name}")
            return found

        return await self._database.write(work)

    async def tokens(self, user: str | None) -> list[Token]:
        rows = await self._database.read(lambda tx: tx.records("tokens", user=user))
        return [token_from(row) for row in rows]

    async def revoke_token(self, token_id: str, user: str | None) -> bool:
        def work(tx: Transaction) -> bool:
            row = tx.record("revoke_token", id=token_id, user=user)
            if row is not None:
                add_event(tx, "token_revoked", f"{token_id} of {row['user_name']}")
            return row is not None

        return await self._database.write(work)

    async def end_session(self, token_id: str) -> None:
        def work(tx: Transaction) -> None:
            row = tx.record("expire_token", id=token_id)
            if row is not None:
                add_event(tx, "session_ended", f"{token_id} of {row['user_name']}")

        await self._database.write(work)

    async def usage(self, owner: str) -> Usage:
        return await self._database.read(lambda tx: usage_of(tx, owner))


def _found(row: dict[str, Any] | None, name: str) -> User:
    if row is None:
        raise unknown_user(name)
    return user_from(row)


def _add_token(tx: Transaction, new: NewToken) -> Token:
    require_enabled(tx.record("user", name=new.user), new)
    if new.most is not None:
        require_room_for_token(new, tx.rows("held_tokens", user=new.user)[0][0])
    rows = tx.records(
        "insert_token",
        id=new.id,
        user=new.user,
        digest=new.digest,
        kind=new.kind,
        role=new.role,
        label=new.label,
        opened_by=new.opened_by,
        lives_us=in_us(new.lives_s),
        renewed_us=in_us(new.renewed_s),
    )
    add_event(tx, "token_added", f"{new.id} ({new.kind}, {new.role}) of {new.user}")
    return token_from(rows[0])


def _bearer(tx: Transaction, digest: str, kind: TokenKind) -> Bearer | None:
    row = tx.record("bearer", digest=digest, kind=kind)
    if row is None:
        return None
    token = token_from(row)
    return Bearer(token, user_from(tx.records("user", name=token.user)[0]))


class SqliteLogins:
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def knows(self, tried: LoginTry) -> bool:
        return await self._database.read(lambda tx: is_known(_counted(tx, tried), tx.now))

    async def count(self, tried: LoginTry) -> LoginCount:
        first = await self._database.read(lambda tx: _judged(tx, tried))
        if first.wait_us > 0:
            return login_count(first)
        return await self._database.write(lambda tx: _charge(tx, tried))

    async def succeeded(self, tried: LoginTry, counted: LoginCount) -> None:
        def work(tx: Transaction) -> None:
            for scope in counted.charged:
                step_us = tried.limits[scope].step_us
                tx.change("refund_login", key=tried.keys[scope], step_us=step_us)
            tx.change("know_login", key=tried.keys[LoginScope.PAIR], known_us=KNOWN_US)

        await self._database.write(work)


def _counted(tx: Transaction, tried: LoginTry) -> dict[LoginScope, Counted]:
    rows = tx.records("login_tries", keys=json.dumps([*tried.keys.values()]))
    return counted_in(tried, rows)


def _judged(tx: Transaction, tried: LoginTry) -> LoginVerdict:
    return judge(_counted(tx, tried), tried.limits, tx.now)


def _charge(tx: Transaction, tried: LoginTry) -> LoginCount:
    tx.change("forget_logins")
    verdict = _judged(tx, tried)
    for scope, full_at in verdict.charged.items():
        tx.change("charge_login", key=tried.keys[scope], full_at=full_at)
    return login_count(verdict)
