"""Tries of logins on SQLite."""

import json

from headgate.core.login_limit import KNOWN_US, Counted, LoginScope, LoginVerdict, is_known, judge
from headgate.ports.logins import LoginCount, LoginTry
from headgate.stores.logins import counted_in, told
from headgate.stores.sqlite.connection import Database, Transaction


class SqliteLogins:
    """LoginStore on one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def knows(self, tried: LoginTry) -> bool:
        """Whether the account has logged in from the address within the last days."""
        return await self._database.read(lambda tx: is_known(_counted(tx, tried), tx.now))

    async def count(self, tried: LoginTry) -> LoginCount:
        """Count a try, unless a limit is reached. A try that is turned away writes nothing."""
        first = await self._database.read(lambda tx: _judged(tx, tried))
        if first.wait_us > 0:
            return told(first)
        return await self._database.write(lambda tx: _charge(tx, tried))

    async def succeeded(self, tried: LoginTry, counted: LoginCount) -> None:
        """Take the try off the count again, and know the address of the account from now on."""

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
    return told(verdict)
