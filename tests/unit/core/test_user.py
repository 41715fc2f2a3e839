"""Passwords that a stranger guesses first are refused, with a word on what to do."""

import pytest

from headgate.core.user import (
    ADVICE,
    KNOWN_US,
    MINUTE_US,
    CountedLogins,
    LoginScope,
    judge_login,
    login_allowances,
    login_keys,
    password_weakness,
)


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("brief", "fewer than 10"),
        (" " * 10, "spaces"),
        ("\t \n \t \n \t a", "spaces"),
        ("aaaaaaaaaa", "repeats"),
        ("AaAaAaAaAaA", "repeats"),
        ("ababababab", "repeats"),
        ("abcabcabcabc", "sequence"),
        ("1717171717", "repeats"),
        ("axbaxbaxbaxb", "repeats"),
        ("1234567890", "sequence"),
        ("0123456789", "sequence"),
        ("0987654321", "sequence"),
        ("12345678901234567890", "sequence"),
        ("1 2 3 4 5 6 7 8 9", "sequence"),
        ("abcdefghijkl", "sequence"),
        ("zyxwvutsrqpo", "sequence"),
        ("qwertyuiop", "sequence"),
        ("POIUYTREWQ", "sequence"),
        ("password123", "common"),
        ("P4ssw0rd!!!!", "common"),
        ("!!Password2026!!", "common"),
        ("passwordpassword", "common"),
        ("letmein12345", "common"),
        ("Headgate2026", "common"),
        ("ann.smith@x", "name"),
        ("Ann.Smith@x1", "name"),
        ("annsmithx2026", "name"),
    ],
)
def test_passwords_that_are_easy_to_guess_are_refused(password: str, reason: str):
    weakness = password_weakness(password, "ann.smith@x")
    assert reason in weakness
    assert ADVICE in weakness
    assert password not in weakness


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery",
        "tr0mbone-17-lake",
        "ann likes green tea",
        "password of my garden door",
        "0x8f3a91c2",
        "1234567890ab!",
        "żółta łódź na jeziorze",
    ],
)
def test_other_passwords_are_accepted(password: str):
    assert password_weakness(password, "ann") == ""


def test_a_user_without_letters_in_the_name_is_not_a_reason():
    assert password_weakness("correct horse battery", "007") == ""
    assert "name" in password_weakness("4711471147", "4711471147")


NOW = 1_800_000_000_000_000
PAIR, ADDRESS, ACCOUNT = LoginScope


class Book:
    """What a store would hold."""

    def __init__(self, tries: int = 10) -> None:
        self.limits = login_allowances(tries)
        self.rows: dict[str, CountedLogins] = {}
        self.now = NOW

    def try_once(self, account: str, address: str) -> int:
        keys = login_keys(account, address)
        counted = {scope: self.rows[key] for scope, key in keys.items() if key in self.rows}
        verdict = judge_login(counted, self.limits, self.now)
        for scope, full_at in verdict.charged.items():
            before = self.rows.get(keys[scope], CountedLogins())
            self.rows[keys[scope]] = before._replace(full_at=full_at)
        return verdict.wait_us

    def know(self, account: str, address: str) -> None:
        key = login_keys(account, address)[PAIR]
        self.rows[key] = CountedLogins(0, self.now + KNOWN_US)

    def admitted(self, times: int, account: str, address: str) -> int:
        return sum(self.try_once(account, address) == 0 for _ in range(times))


def test_three_hundred_concurrent_logins_are_limited_like_ten():
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


def test_guesses_from_elsewhere_block_no_other_account_or_address():
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


def test_the_owner_can_log_in_from_a_known_address_during_an_attack():
    book = Book()
    book.know("ann", "203.0.113.7")
    for n in range(250):
        book.try_once("ann", f"192.0.2.{n}")
    assert book.try_once("ann", "203.0.113.8") > 0
    assert book.admitted(300, "ann", "203.0.113.7") == 10, "the limit of the pair holds there"


def test_a_full_shared_address_admits_users_who_logged_in_from_it_before():
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


def test_a_try_that_is_refused_is_not_counted():
    book = Book(tries=1)
    book.try_once("ann", "192.0.2.1")
    waits = [book.try_once("ann", "192.0.2.1") for _ in range(5)]
    assert waits == [5 * MINUTE_US] * 5


@pytest.mark.parametrize("name", ["ann\nx", "\ud800", "\0", "a" * 64])
def test_login_keys_contain_no_user_input(name: str):
    keys = login_keys(name, "192.0.2.1")
    assert all(key.isascii() and key.isprintable() and len(key) < 64 for key in keys.values())
    assert len(set(keys.values())) == 3
    assert login_keys("a\nb", "c")[PAIR] != login_keys("a", "b")[PAIR]
