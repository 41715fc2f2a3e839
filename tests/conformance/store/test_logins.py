"""Tries of logins are counted when they come, for all servers together."""

import asyncio

from headgate.core.user import LoginScope, login_allowances, login_keys
from headgate.ports.access import LoginTry


def a_try(account="ann", address="192.0.2.1", tries=10):
    return LoginTry(login_keys(account, address), login_allowances(tries))


async def test_of_many_logins_at_once_only_the_allowed_number_continues(store, other):
    comers = [each.logins.count(a_try()) for each in (store, other) * 50]
    counted = await asyncio.gather(*comers)
    assert sum(each.wait_s == 0 for each in counted) == 10
    assert all(0 < each.wait_s <= 30 for each in counted if each.wait_s)
    assert (await store.logins.count(a_try("bob"))).wait_s == 0
    assert (await store.logins.count(a_try("ann", "192.0.2.2"))).wait_s == 0


async def test_a_login_that_is_refused_writes_nothing(store, place):
    await store.logins.count(a_try(tries=1))
    before = place.execute("SELECT * FROM login_tries ORDER BY key")
    assert (await store.logins.count(a_try(tries=1))).wait_s > 299
    assert place.execute("SELECT * FROM login_tries ORDER BY key") == before


async def test_right_logins_are_taken_off_the_count_and_make_the_address_known(store, other):
    for _ in range(12):
        counted = await store.logins.count(a_try())
        assert counted.wait_s == 0
        await other.logins.succeeded(a_try(), counted)
    for number in range(60):
        await store.logins.count(a_try(f"user{number}"))
    assert (await store.logins.count(a_try("new"))).wait_s > 0
    known = await store.logins.count(a_try())
    assert (known.wait_s, known.charged) == (0, {LoginScope.PAIR})


async def test_an_address_is_known_to_an_account_after_a_right_login(store, other, place):
    assert not await store.logins.knows(a_try())
    counted = await store.logins.count(a_try())
    assert not await store.logins.knows(a_try())
    await store.logins.succeeded(a_try(), counted)
    assert await other.logins.knows(a_try())
    assert not await store.logins.knows(a_try("bob"))
    assert not await store.logins.knows(a_try("ann", "192.0.2.2"))
    place.execute("UPDATE login_tries SET known_until = 1")
    assert not await store.logins.knows(a_try())


async def test_a_right_login_gives_back_only_what_it_took(store, place):
    first = await store.logins.count(a_try())
    await store.logins.succeeded(a_try(), first)
    for number in range(50):
        await store.logins.count(a_try(f"user{number}"))
    for _ in range(20):
        counted = await store.logins.count(a_try())
        await store.logins.succeeded(a_try(), counted)
    assert (await store.logins.count(a_try("new"))).wait_s > 0


async def test_what_was_counted_is_forgotten_when_it_says_nothing_any_more(store, place):
    for number in range(20):
        await store.logins.count(a_try(f"user{number}", f"192.0.2.{number}"))
    past = "UPDATE login_tries SET over_at = over_at - 3600000000, full_at = 0"
    place.execute(past)
    await store.logins.count(a_try())
    assert place.execute("SELECT count(*) FROM login_tries") == [(3,)]
