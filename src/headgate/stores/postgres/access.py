"""Users, tokens and login attempts on PostgreSQL."""

from typing import Any

import msgspec

from headgate.core.login_limit import KNOWN_US, LoginScope, LoginVerdict, is_known, judge
from headgate.core.user import Token, TokenKind, User
from headgate.ports.access import Bearer, LoginCount, LoginTry, NewToken, NewUser, Usage, UserChange
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.postgres.create import usage_of
from headgate.stores.postgres.records import add_event, fitting
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


class PostgresAccess:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def add_user(self, new: NewUser) -> User:
        values = fitting(name=new.name, role=new.role, password_hash=new.password_hash)

        async def work(session: PostgresSession) -> User:
            record = await session.record("add_user", **values)
            if record is None:
                raise name_taken(new.name)
            await add_event(session, "user_added", f"{new.name} as {new.role}")
            return user_from(record)

        # Not repeated: the retry would find the user made by the first try and fail.
        return await self._database.write(work, repeatable=False)

    async def change_user(self, name: str, change: UserChange) -> User:
        values = fitting(name=name, **msgspec.structs.asdict(change))
        del values["asked_with"]

        async def work(session: PostgresSession) -> User:
            before = _found(await session.record("lock_user", name=values["name"]), name)
            user = _found(await session.record("change_user", **values), name)
            ended = ended_by(change, before.role)
            revoked = 0
            if ended:
                revoked = await session.change(ended[0], user=user.name, **ended[1])
            await add_event(session, "user_changed", change_in_words(name, change, revoked))
            return user

        return await self._database.write(work)

    async def user(self, name: str) -> tuple[User, str | None]:
        record = await self._database.single(
            lambda session: session.record("user", **fitting(name=name))
        )
        if record is None:
            raise unknown_user(name)
        return user_from(record), record["password_hash"]

    async def users(self) -> list[User]:
        records = await self._database.single(lambda session: session.records("users"))
        return [user_from(record) for record in records]

    async def add_token(self, new: NewToken) -> Token:
        return await self._database.write(
            lambda session: _add_token(session, new), repeatable=False
        )

    async def renew_token(self, token_id: str, renewed_s: float) -> bool:
        values = {"id": token_id, "renewed_us": in_us(renewed_s)}
        return bool(
            await self._database.single(lambda session: session.rows("renew_token", **values))
        )

    async def bearer(self, digest: str, kind: TokenKind) -> Bearer | None:
        async def work(session: PostgresSession) -> Bearer | None:
            found, now = await _bearer(session, digest, kind)
            if found is not None and use_is_news(found.token, now):
                await session.change("note_use", id=found.token.id)
            return found

        return await self._database.single(work)

    async def redeem(self, digest: str) -> Bearer | None:
        async def work(session: PostgresSession) -> Bearer | None:
            found, _ = await _bearer(session, digest, TokenKind.LINK)
            if found is None or not await session.records(
                "revoke_token", id=found.token.id, user=None
            ):
                return None
            await session.change("note_use", id=found.token.id)
            message = f"{found.token.id} of {found.user.name}"
            await add_event(session, "token_redeemed", message)
            return found

        return await self._database.write(work)

    async def tokens(self, user: str | None) -> list[Token]:
        records = await self._database.single(
            lambda session: session.records("tokens", **fitting(user=user))
        )
        return [token_from(record) for record in records]

    async def revoke_token(self, token_id: str, user: str | None) -> bool:
        values = fitting(id=token_id, user=user)

        async def work(session: PostgresSession) -> bool:
            record = await session.record("revoke_token", **values)
            if record is not None:
                message = f"{token_id} of {record['user_name']}"
                await add_event(session, "token_revoked", message)
            return record is not None

        return await self._database.write(work)

    async def end_session(self, token_id: str) -> None:
        async def work(session: PostgresSession) -> None:
            record = await session.record("expire_token", id=token_id)
            if record is not None:
                message = f"{token_id} of {record['user_name']}"
                await add_event(session, "session_ended", message)

        await self._database.write(work)

    async def usage(self, owner: str) -> Usage:
        return await self._database.single(lambda session: usage_of(session, owner))


def _found(record: dict[str, Any] | None, name: str) -> User:
    if record is None:
        raise unknown_user(name)
    return user_from(record)


async def _add_token(session: PostgresSession, new: NewToken) -> Token:
    # Locked, so that the user is not disabled while the token is made.
    user = require_enabled(await session.record("lock_user", **fitting(name=new.user)), new)
    if new.most is not None:
        require_room_for_token(new, (await session.rows("held_tokens", user=user.name))[0][0])
    values = fitting(
        id=new.id,
        user=user.name,
        digest=new.digest,
        kind=new.kind,
        role=new.role,
        label=new.label,
        opened_by=new.opened_by,
        lives_us=in_us(new.lives_s),
        renewed_us=in_us(new.renewed_s),
    )
    records = await session.records("insert_token", **values)
    await add_event(session, "token_added", f"{new.id} ({new.kind}, {new.role}) of {new.user}")
    return token_from(records[0])


async def _bearer(
    session: PostgresSession, digest: str, kind: TokenKind
) -> tuple[Bearer | None, int]:
    """The owner of a token, and the time."""
    record = await session.record("bearer", **fitting(digest=digest, kind=kind))
    if record is None:
        return None, 0
    token = token_from(record)
    users = await session.records("user", name=token.user)
    return Bearer(token, user_from(users[0])), record["now"]


class PostgresLogins:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def knows(self, tried: LoginTry) -> bool:
        return await self._database.single(lambda session: _is_known(session, tried))

    async def count(self, tried: LoginTry) -> LoginCount:
        first = await self._database.single(lambda session: _judged(session, tried))
        if first.wait_us > 0:
            return login_count(first)
        return await self._database.write(lambda session: _charge(session, tried))

    async def succeeded(self, tried: LoginTry, counted: LoginCount) -> None:
        async def work(session: PostgresSession) -> None:
            for scope in sorted(counted.charged, key=lambda scope: tried.keys[scope]):
                step_us = tried.limits[scope].step_us
                await session.change("refund_login", key=tried.keys[scope], step_us=step_us)
            pair = tried.keys[LoginScope.PAIR]
            await session.change("know_login", key=pair, known_us=KNOWN_US)

        await self._database.write(work, repeatable=False)


async def _is_known(session: PostgresSession, tried: LoginTry) -> bool:
    rows = await session.records("login_tries", keys=[*tried.keys.values()])
    return is_known(counted_in(tried, rows), rows[0]["now"])


async def _judged(session: PostgresSession, tried: LoginTry) -> LoginVerdict:
    rows = await session.records("login_tries", keys=[*tried.keys.values()])
    return judge(counted_in(tried, rows), tried.limits, rows[0]["now"])


async def _charge(session: PostgresSession, tried: LoginTry) -> LoginCount:
    await session.change("forget_logins")
    await session.change("lock_logins", keys=[*tried.keys.values()])
    verdict = await _judged(session, tried)
    for scope, full_at in verdict.charged.items():
        await session.change("charge_login", key=tried.keys[scope], full_at=full_at)
    return login_count(verdict)
