"""Users and tokens on PostgreSQL."""

from typing import Any

import msgspec

from headgate.core.user import Token, TokenKind, User
from headgate.ports.access import Bearer, NewToken, NewUser, Usage, UserChange
from headgate.stores.people import (
    change_told,
    nobody,
    taken,
    token_from,
    use_is_news,
    user_from,
)
from headgate.stores.postgres.connection import Database, Session
from headgate.stores.postgres.records import add_event
from headgate.stores.postgres.rows import fitting
from headgate.stores.postgres.usage import usage_of


class PostgresAccess:
    """AccessStore on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_user(self, new: NewUser) -> User:
        """Make a user; NameTaken if there is one."""
        values = fitting(name=new.name, role=new.role, password_hash=new.password_hash)

        async def work(session: Session) -> User:
            record = await session.record("add_user", **values)
            if record is None:
                raise taken(new.name)
            await add_event(session, "user_added", f"{new.name} as {new.role}")
            return user_from(record)

        # Not twice: whoever was made without our knowing would be in the way.
        return await self._database.write(work, repeatable=False)

    async def change_user(self, name: str, change: UserChange) -> User:
        """Give another role or password, disable or enable; UnknownUser if there is none."""
        values = fitting(name=name, **msgspec.structs.asdict(change))

        async def work(session: Session) -> User:
            user = _found(await session.record("change_user", **values), name)
            revoked = 0
            if change.disabled:
                revoked = await session.change("revoke_tokens", user=user.name)
            await add_event(session, "user_changed", change_told(name, change, revoked))
            return user

        return await self._database.write(work)

    async def user(self, name: str) -> tuple[User, str | None]:
        """A user and the hash of their password, or UnknownUser."""
        record = await self._database.single(
            lambda session: session.record("user", **fitting(name=name))
        )
        if record is None:
            raise nobody(name)
        return user_from(record), record["password_hash"]

    async def users(self) -> list[User]:
        """Everybody, by name."""
        records = await self._database.single(lambda session: session.records("users"))
        return [user_from(record) for record in records]

    async def add_token(self, new: NewToken) -> Token:
        """Keep a token; UnknownUser if there is no such user or they are disabled."""
        return await self._database.write(
            lambda session: _add_token(session, new), repeatable=False
        )

    async def bearer(self, digest: str, kind: TokenKind) -> Bearer | None:
        """Whose token that is, if it holds. Notes the use, at most once a minute."""

        async def work(session: Session) -> Bearer | None:
            found, now = await _bearer(session, digest, kind)
            if found is not None and use_is_news(found.token, now):
                await session.change("note_use", id=found.token.id)
            return found

        return await self._database.single(work)

    async def redeem(self, digest: str) -> Bearer | None:
        """As `bearer` for a LINK, which is revoked in the same step: the second gets None."""

        async def work(session: Session) -> Bearer | None:
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
        """The tokens of a user (None: of all) that are not expired or revoked, newest first."""
        records = await self._database.single(
            lambda session: session.records("tokens", **fitting(user=user))
        )
        return [token_from(record) for record in records]

    async def revoke_token(self, token_id: str, user: str | None) -> bool:
        """End a token at once; False if `user` (None: anybody) has no such token that holds."""
        values = fitting(id=token_id, user=user)

        async def work(session: Session) -> bool:
            record = await session.record("revoke_token", **values)
            if record is not None:
                message = f"{token_id} of {record['user_name']}"
                await add_event(session, "token_revoked", message)
            return record is not None

        return await self._database.write(work)

    async def usage(self, owner: str) -> Usage:
        """How much an owner has under way, from the maintained counters."""
        return await self._database.single(lambda session: usage_of(session, owner))


def _found(record: dict[str, Any] | None, name: str) -> User:
    if record is None:
        raise nobody(name)
    return user_from(record)


async def _add_token(session: Session, new: NewToken) -> Token:
    # Shared, so that nobody is disabled under a token that is being made.
    user = _found(await session.record("share_user", **fitting(name=new.user)), new.user)
    if user.disabled_at is not None:
        raise nobody(new.user)
    values = fitting(
        id=new.id,
        user=user.name,
        digest=new.digest,
        kind=new.kind,
        role=new.role,
        label=new.label,
        opened_by=new.opened_by,
        lives_us=None if new.lives_s is None else int(new.lives_s * 1_000_000),
    )
    records = await session.records("insert_token", **values)
    await add_event(session, "token_added", f"{new.id} ({new.kind}, {new.role}) of {new.user}")
    return token_from(records[0])


async def _bearer(session: Session, digest: str, kind: TokenKind) -> tuple[Bearer | None, int]:
    """Whose token that is, and the time."""
    record = await session.record("bearer", **fitting(digest=digest, kind=kind))
    if record is None:
        return None, 0
    token = token_from(record)
    users = await session.records("user", name=token.user)
    return Bearer(token, user_from(users[0])), record["now"]
