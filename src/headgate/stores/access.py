"""Users, tokens and login attempts."""

from typing import Any

import msgspec

from headgate.core.user import (
    KNOWN_US,
    LoginScope,
    LoginVerdict,
    Token,
    TokenKind,
    User,
    is_known,
    judge_login,
)
from headgate.ports.access import Bearer, LoginCount, LoginTry, NewToken, NewUser, Usage, UserChange
from headgate.stores.create import usage_of
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
from headgate.stores.transaction import SqlDatabase, Transaction


class SqlAccess:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def add_user(self, new: NewUser) -> User:
        values = {"name": new.name, "role": new.role, "password_hash": new.password_hash}

        async def work(tx: Transaction) -> User:
            row = await tx.record("add_user", **values)
            if row is None:
                raise name_taken(new.name)
            await tx.add_event("user_added", f"{new.name} as {new.role}")
            return user_from(row)

        # Not repeated: the retry would find the user made by the first try and fail.
        return await self._database.write(work, repeatable=False)

    async def change_user(self, name: str, change: UserChange) -> User:
        values = msgspec.structs.asdict(change)
        del values["asked_with"]

        async def work(tx: Transaction) -> User:
            before = _found(await tx.locked("user", name=name), name)
            user = _found(await tx.record("change_user", name=name, **values), name)
            ended = ended_by(change, before.role)
            revoked = await tx.change(ended[0], user=user.name, **ended[1]) if ended else 0
            await tx.add_event("user_changed", change_in_words(name, change, revoked))
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
        return await self._database.write(lambda tx: _add_token(tx, new), repeatable=False)

    async def renew_token(self, token_id: str, renewed_s: float) -> bool:
        values = {"id": token_id, "renewed_us": in_us(renewed_s)}
        return bool(await self._database.write_one(lambda tx: tx.rows("renew_token", **values)))

    async def bearer(self, digest: str, kind: TokenKind) -> Bearer | None:
        found, now = await self._database.read(lambda tx: _bearer(tx, digest, kind))
        if found is not None and use_is_news(found.token, now):
            token_id = found.token.id
            await self._database.write_one(lambda tx: tx.change("note_use", id=token_id))
        return found

    async def redeem(self, digest: str) -> Bearer | None:
        async def work(tx: Transaction) -> Bearer | None:
            found, _ = await _bearer(tx, digest, TokenKind.LINK)
            if found is None or not await tx.records("revoke_token", id=found.token.id, user=None):
                return None
            await tx.change("note_use", id=found.token.id)
            await tx.add_event("token_redeemed", f"{found.token.id} of {found.user.name}")
            return found

        return await self._database.write(work)

    async def tokens(self, user: str | None) -> list[Token]:
        rows = await self._database.read(lambda tx: tx.records("tokens", user=user))
        return [token_from(row) for row in rows]

    async def revoke_token(self, token_id: str, user: str | None) -> bool:
        async def work(tx: Transaction) -> bool:
            row = await tx.record("revoke_token", id=token_id, user=user)
            if row is not None:
                await tx.add_event("token_revoked", f"{token_id} of {row['user_name']}")
            return row is not None

        return await self._database.write(work)

    async def end_session(self, token_id: str) -> None:
        async def work(tx: Transaction) -> None:
            row = await tx.record("expire_token", id=token_id)
            if row is not None:
                await tx.add_event("session_ended", f"{token_id} of {row['user_name']}")

        await self._database.write(work)

    async def usage(self, owner: str) -> Usage:
        return await self._database.read(lambda tx: usage_of(tx, owner))


def _found(row: dict[str, Any] | None, name: str) -> User:
    if row is None:
        raise unknown_user(name)
    return user_from(row)


async def _add_token(tx: Transaction, new: NewToken) -> Token:
    # Locked, so that the user is not disabled while the token is made.
    user = require_enabled(await tx.locked("user", name=new.user), new)
    if new.most is not None:
        [(held,)] = await tx.rows("held_tokens", user=user.name)
        require_room_for_token(new, held)
    [row] = await tx.records(
        "insert_token",
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
    await tx.add_event("token_added", f"{new.id} ({new.kind}, {new.role}) of {new.user}")
    return token_from(row)


async def _bearer(tx: Transaction, digest: str, kind: TokenKind) -> tuple[Bearer | None, int]:
    """The owner of a token, and the time."""
    row = await tx.record("bearer", digest=digest, kind=kind)
    if row is None:
        return None, 0
    token = token_from(row)
    [user] = await tx.records("user", name=token.user)
    return Bearer(token, user_from(user)), row["now"]


class SqlLogins:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def knows(self, tried: LoginTry) -> bool:
        return await self._database.read(lambda tx: _is_known(tx, tried))

    async def count(self, tried: LoginTry) -> LoginCount:
        first = await self._database.read(lambda tx: _judged(tx, tried))
        if first.wait_us > 0:
            return login_count(first)
        return await self._database.write(lambda tx: _charge(tx, tried))

    async def succeeded(self, tried: LoginTry, counted: LoginCount) -> None:
        async def work(tx: Transaction) -> None:
            for scope in sorted(counted.charged, key=lambda scope: tried.keys[scope]):
                step_us = tried.limits[scope].step_us
                await tx.change("refund_login", key=tried.keys[scope], step_us=step_us)
            await tx.change("know_login", key=tried.keys[LoginScope.PAIR], known_us=KNOWN_US)

        await self._database.write(work, repeatable=False)


async def _is_known(tx: Transaction, tried: LoginTry) -> bool:
    rows = await tx.records("login_tries", keys=[*tried.keys.values()])
    return is_known(counted_in(tried, rows), rows[0]["now"])


async def _judged(tx: Transaction, tried: LoginTry) -> LoginVerdict:
    rows = await tx.records("login_tries", keys=[*tried.keys.values()])
    return judge_login(counted_in(tried, rows), tried.limits, rows[0]["now"])


async def _charge(tx: Transaction, tried: LoginTry) -> LoginCount:
    await tx.change("forget_logins")
    await tx.lock("logins", keys=[*tried.keys.values()])
    verdict = await _judged(tx, tried)
    for scope, full_at in verdict.charged.items():
        await tx.change("charge_login", key=tried.keys[scope], full_at=full_at)
    return login_count(verdict)
