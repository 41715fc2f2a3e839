"""How long a token holds: never longer than what it was made with."""

import asyncio

import pytest

from headgate.core.errors import CapReached, UnknownUser
from headgate.core.user import Role, TokenKind
from headgate.ports.access import NewToken, NewUser, UserChange
from headgate.ports.reads import EventQuery


async def a_user(store, name="ann", role=Role.USER):
    return await store.access.add_user(NewUser(name, role))


async def a_token(store, name="t1", user="ann", kind=TokenKind.API, lives_s=None):
    new = NewToken(name, user, f"digest-{name}", kind, Role.USER, "laptop", lives_s)
    return await store.access.add_token(new)


async def messages(store):
    return [(event.kind, event.message) for event in await store.reads.events(EventQuery())]


async def made_with(store, maker, name, user="ann", kind=TokenKind.API, **more):
    new = NewToken(name, user, f"digest-{name}", kind, Role.USER, opened_by=maker, **more)
    return await store.access.add_token(new)


async def holds(store, name, kind=TokenKind.API):
    return await store.access.bearer(f"digest-{name}", kind) is not None


async def test_a_token_ends_no_later_than_the_one_that_made_it(store):
    await a_user(store)
    maker = await a_token(store, lives_s=3_600)
    session = await made_with(store, "t1", "s1", kind=TokenKind.LOGIN, lives_s=86_400)
    assert session.expires_at == maker.expires_at
    for number, lives_s in enumerate([None, 86_400, 60]):
        made = await made_with(store, "s1", f"m{number}", lives_s=lives_s)
        assert made.expires_at <= maker.expires_at
        assert (made.expires_at < maker.expires_at) == (lives_s == 60)
    assert (await made_with(store, None, "free")).expires_at is None


async def test_revoking_a_token_ends_all_that_was_made_with_it(store, other):
    await a_user(store)
    await a_user(store, "bob")
    await a_token(store)
    await made_with(store, "t1", "s1", kind=TokenKind.LOGIN, lives_s=3_600)
    await made_with(store, "s1", "m1")
    await made_with(store, "m1", "m2", user="bob")
    await made_with(store, "m1", "s2", kind=TokenKind.LOGIN, lives_s=3_600)
    assert await holds(other, "m2")
    assert await store.access.revoke_token("t1", None)
    for name, kind in (("s1", "login"), ("m1", "api"), ("m2", "api"), ("s2", "login")):
        assert not await holds(other, name, TokenKind(kind)), name
    assert await store.access.tokens(None) == []


async def test_what_was_made_in_a_session_outlives_it_but_not_its_revocation(store, place):
    await a_user(store)
    for session in ("s1", "s2", "s3"):
        await made_with(store, None, session, kind=TokenKind.LOGIN, lives_s=60)
        await made_with(store, session, f"of-{session}")
    place.execute("UPDATE tokens SET expires_at = expires_at - 60000000 WHERE id = 's1'")
    await store.access.end_session("s2")
    await store.access.revoke_token("s3", None)
    for session, stays in (("s1", True), ("s2", True), ("s3", False)):
        assert not await holds(store, session, TokenKind.LOGIN)
        assert await holds(store, f"of-{session}") is stays
    assert ("session_ended", "s2 of ann") in await messages(store)


async def test_what_others_were_made_with_is_kept_on_record(store, place):
    await a_user(store)
    await made_with(store, None, "s1", kind=TokenKind.LOGIN, lives_s=60)
    await made_with(store, "s1", "m1")
    place.execute("UPDATE tokens SET expires_at = expires_at - 600000000 WHERE id = 's1'")
    await store.jobs.retain(60_000_000)
    assert await holds(store, "m1")
    await store.access.change_user("ann", UserChange(disabled=True))
    assert not await holds(store, "m1")


async def test_a_token_whose_maker_is_not_on_record_does_not_hold(store):
    await a_user(store)
    await made_with(store, "no-such-token", "m1")
    assert not await holds(store, "m1")
    assert await store.access.tokens(None) == []


async def test_a_token_that_is_not_renewed_ends_with_all_that_was_made_with_it(store, place):
    await a_user(store)
    token = await made_with(store, None, "t1", renewed_s=60.0)
    assert token.expires_at == token.created_at + 60_000_000
    await made_with(store, "t1", "m1")
    assert await holds(store, "m1")
    lapse = "UPDATE tokens SET until_at = until_at - 60000000 WHERE id = 't1'"
    place.execute(lapse)
    assert not await holds(store, "t1")
    assert not await holds(store, "m1")
    assert await store.access.renew_token("t1", 60.0)
    assert await holds(store, "t1")
    assert await holds(store, "m1")
    assert await store.access.revoke_token("t1", None)
    assert not await store.access.renew_token("t1", 60.0)
    assert not await holds(store, "t1")


async def test_a_new_password_ends_everything_but_what_asked_and_running_servers(store, other):
    await a_user(store)
    await a_user(store, "bob")
    await a_token(store)
    await a_token(store, "asks")
    await a_token(store, "of-bob", "bob")
    await made_with(store, None, "server", renewed_s=60.0)
    await made_with(store, None, "s1", kind=TokenKind.LOGIN, lives_s=60)
    await made_with(store, "s1", "for-bob", user="bob")
    await store.access.change_user("ann", UserChange(password_hash="new", asked_with="asks"))
    assert {token.id for token in await other.access.tokens(None)} == {"asks", "of-bob", "server"}
    assert (await messages(store))[-1] == ("user_changed", "ann: a new password, 2 tokens revoked")


async def test_a_session_is_not_opened_by_a_password_that_was_changed_meanwhile(store, other):
    await store.access.add_user(NewUser("ann", Role.USER, "old"))
    _, checked = await store.access.user("ann")
    await made_with(store, None, "s1", kind=TokenKind.LOGIN, password_hash=checked)
    await other.access.change_user("ann", UserChange(password_hash="new"))
    with pytest.raises(UnknownUser):
        await made_with(store, None, "s2", kind=TokenKind.LOGIN, password_hash=checked)
    assert await store.access.tokens("ann") == []


async def test_a_lower_role_ends_sessions_and_what_was_made_for_others(store, other):
    await a_user(store, role=Role.ADMIN)
    await a_user(store, "bob")
    await a_token(store)
    await made_with(store, None, "s1", kind=TokenKind.LOGIN, lives_s=60)
    await made_with(store, "t1", "own")
    await made_with(store, "t1", "for-bob", user="bob")
    await store.access.change_user("ann", UserChange(Role.ADMIN))
    assert len(await other.access.tokens(None)) == 4, "the role is what it was"
    await store.access.change_user("ann", UserChange(Role.USER))
    assert {token.id for token in await other.access.tokens(None)} == {"t1", "own"}
    await store.access.change_user("ann", UserChange(Role.ADMIN))
    assert len(await other.access.tokens(None)) == 2


async def test_the_number_of_tokens_of_a_user_is_limited(store, other):
    await a_user(store)
    await a_token(store, "session", kind=TokenKind.LOGIN)
    await a_token(store, "ended")
    await store.access.revoke_token("ended", None)
    comers = [made_with(each, None, f"t{n}", most=3) for n, each in enumerate((store, other) * 5)]
    answers = await asyncio.gather(*comers, return_exceptions=True)
    assert sum(isinstance(answer, CapReached) for answer in answers) == 7
    assert sum(token.kind is TokenKind.API for token in await store.access.tokens("ann")) == 3
