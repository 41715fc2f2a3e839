"""Guessing takes time, and nobody can keep others out by guessing badly."""

import pytest

from headgate.core.login_limit import (
    KNOWN_US,
    MINUTE_US,
    Counted,
    LoginScope,
    allowances,
    judge,
    login_keys,
)

NOW = 1_800_000_000_000_000
PAIR, ADDRESS, ACCOUNT = LoginScope


class Book:
    """What a store would hold."""

    def __init__(self, tries: int = 10) -> None:
        self.limits = allowances(tries)
        self.rows: dict[str, Counted] = {}
        self.now = NOW

    def try_once(self, account: str, address: str) -> int:
        keys = login_keys(account, address)
        counted = {scope: self.rows[key] for scope, key in keys.items() if key in self.rows}
        verdict = judge(counted, self.limits, self.now)
        for scope, full_at in verdict.charged.items():
            before = self.rows.get(keys[scope], Counted())
            self.rows[keys[scope]] = before._replace(full_at=full_at)
        return verdict.wait_us

    def know(self, account: str, address: str) -> None:
        key = login_keys(account, address)[PAIR]
        self.rows[key] = Counted(0, self.now + KNOWN_US)

    def admitted(self, times: int, account: str, address: str) -> int:
        return sum(self.try_once(account, address) == 0 for _ in range(times))


def test_three_hundred_at_once_are_limited_like_ten():
    assert Book().admitted(300, "ann", "192.0.2.1") == 10


def test_a_try_comes_back_after_a_tenth_of_the_time():
    book = Book()
    book.admitted(10, "ann", "192.0.2.1")
    assert book.try_once("ann", "192.0.2.1") == MINUTE_US // 2
    book.now += MINUTE_US // 2 - 1
    assert book.try_once("ann", "192.0.2.1") == 1
    book.now += 1
    assert book.try_once("ann", "192.0.2.1") == 0
    book.now += 5 * MINUTE_US
    assert book.admitted(300, "ann", "192.0.2.1") == 10


def test_a_stranger_elsewhere_keeps_no_other_account_and_no_other_address_out():
    book = Book()
    book.admitted(300, "ann", "192.0.2.1")
    assert book.try_once("bob", "192.0.2.1") == 0
    assert book.try_once("ann", "192.0.2.2") == 0


def test_one_address_has_fifty_tries_for_all_accounts():
    book = Book()
    assert sum(book.try_once(f"user{n}", "192.0.2.1") == 0 for n in range(300)) == 50


def test_one_account_has_fifty_tries_in_an_hour_from_all_addresses():
    book = Book()
    assert sum(book.try_once("ann", f"192.0.2.{n}") == 0 for n in range(250)) == 50
    book.now += 5 * MINUTE_US
    assert sum(book.try_once("ann", f"198.51.100.{n}") == 0 for n in range(250)) <= 5


def test_the_owner_gets_in_from_a_known_address_however_many_strangers_try():
    book = Book()
    book.know("ann", "203.0.113.7")
    for n in range(250):
        book.try_once("ann", f"192.0.2.{n}")
    assert book.try_once("ann", "203.0.113.8") > 0
    assert book.admitted(300, "ann", "203.0.113.7") == 10, "the limit of the pair holds there"


def test_a_shared_address_that_is_full_lets_in_whoever_logged_in_from_there_before():
    book = Book()
    book.know("ann", "192.0.2.1")
    for n in range(300):
        book.try_once(f"user{n}", "192.0.2.1")
    assert book.try_once("bob", "192.0.2.1") > 0
    assert book.try_once("ann", "192.0.2.1") == 0


def test_an_address_is_known_for_thirty_days():
    book = Book()
    book.know("ann", "192.0.2.1")
    for n in range(300):
        book.try_once(f"user{n}", "192.0.2.1")
    book.now += KNOWN_US
    for n in range(300):
        book.try_once(f"user{n}", "192.0.2.1")
    assert book.try_once("ann", "192.0.2.1") > 0


def test_a_try_that_is_turned_away_is_not_counted():
    book = Book(tries=1)
    book.try_once("ann", "192.0.2.1")
    waits = [book.try_once("ann", "192.0.2.1") for _ in range(5)]
    assert waits == [5 * MINUTE_US] * 5


@pytest.mark.parametrize("name", ["ann\nx", "\ud800", "\0", "a" * 64])
def test_keys_hold_nothing_that_somebody_typed(name: str):
    keys = login_keys(name, "192.0.2.1")
    assert all(key.isascii() and key.isprintable() and len(key) < 64 for key in keys.values())
    assert len(set(keys.values())) == 3
    assert login_keys("a\nb", "c")[PAIR] != login_keys("a", "b")[PAIR]
