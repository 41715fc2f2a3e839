"""Tries of logins on PostgreSQL."""

from headgate.core.login_limit import KNOWN_US, LoginScope, LoginVerdict, is_known, judge
from headgate.ports.logins import LoginCount, LoginTry
from headgate.stores.logins import counted_in, told
from headgate.stores.postgres.connection import Database, Session


class PostgresLogins:
    """LoginStore on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def knows(self, tried: LoginTry) -> bool:
        """Whether the account has logged in from the address within the last days."""
        return await self._database.single(lambda session: _is_known(session, tried))

    async def count(self, tried: LoginTry) -> LoginCount:
        """Count a try, unless a limit is reached. A try that is turned away writes nothing."""
        first = await self._database.single(lambda session: _judged(session, tried))
        if first.wait_us > 0:
            return told(first)
        return await self._database.write(lambda session: _charge(session, tried))

    async def succeeded(self, tried: LoginTry, counted: LoginCount) -> None:
        """Take the try off the count again, and know the address of the account from now on."""

        async def work(session: Session) -> None:
            for scope in sorted(counted.charged, key=lambda scope: tried.keys[scope]):
                step_us = tried.limits[scope].step_us
                await session.change("refund_login", key=tried.keys[scope], step_us=step_us)
            pair = tried.keys[LoginScope.PAIR]
            await session.change("know_login", key=pair, known_us=KNOWN_US)

        await self._database.write(work, repeatable=False)


async def _is_known(session: Session, tried: LoginTry) -> bool:
    rows = await session.records("login_tries", keys=[*tried.keys.values()])
    return is_known(counted_in(tried, rows), rows[0]["now"])


async def _judged(session: Session, tried: LoginTry) -> LoginVerdict:
    rows = await session.records("login_tries", keys=[*tried.keys.values()])
    return judge(counted_in(tried, rows), tried.limits, rows[0]["now"])


async def _charge(session: Session, tried: LoginTry) -> LoginCount:
    await session.change("forget_logins")
    await session.change("lock_logins", keys=[*tried.keys.values()])
    verdict = await _judged(session, tried)
    for scope, full_at in verdict.charged.items():
        await session.change("charge_login", key=tried.keys[scope], full_at=full_at)
    return told(verdict)
