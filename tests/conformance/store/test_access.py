"""Users and tokens."""

import asyncio

import pytest

from headgate.core.errors import NameTaken, UnknownUser
from headgate.core.user import Role, TokenKind
from headgate.ports.access import NewToken, NewUser, UserChange
from headgate.ports.reads import EventQuery
from tests.kit import factories


async def a_user(store, name="ann", role=Role.USER):
    return await store.access.add_user(NewUser(name, role))


async def a_token(store, name="t1", user="ann", kind=TokenKind.API, lives_s=None):
    new = NewToken(name, user, f"digest-{name}", kind, Role.USER, "laptop", lives_s)
    return await store.access.add_token(new)


async def messages(store):
    return [(event.kind, event.message) for event in await store.reads.events(EventQuery())]


async def test_a_user_is_kept_with_the_hash_of_their_password(store):
    made = await store.access.add_user(NewUser("ann", Role.VIEWER, "scrypt$secret"))
    assert (made.name, made.role, made.has_password) == ("ann", Role.VIEWER, True)
    assert made.disabled_at is None
    assert await store.access.user("ann") == (made, "scrypt$secret")
    assert await messages(store) == [("user_added", "ann as viewer")]


async def test_a_name_is_taken_once(store, other):
    await a_user(store)
    with pytest.raises(NameTaken, match="ann"):
        await a_user(other, role=Role.ADMIN)
    assert (await store.access.user("ann"))[0].role is Role.USER


async def test_everybody_is_listed_by_name(store):
    for name in ("zoe", "ann", "bob"):
        await a_user(store, name)
    assert [user.name for user in await store.access.users()] == ["ann", "bob", "zoe"]


async def test_a_change_leaves_what_it_does_not_name(store):
    await store.access.add_user(NewUser("ann", Role.USER, "old"))
    assert (await store.access.change_user("ann", UserChange(Role.ADMIN))).role is Role.ADMIN
    assert (await store.access.user("ann"))[1] == "old"
    await store.access.change_user("ann", UserChange(password_hash="new"))
    user, password = await store.access.user("ann")
    assert (user.role, password) == (Role.ADMIN, "new")
    told = await messages(store)
    assert told[1:] == [
        ("user_changed", "ann: role admin"),
        ("user_changed", "ann: a new password"),
    ]
    assert "new" not in [message for _, message in told]


async def test_an_unknown_user_is_named_in_the_error(store):
    with pytest.raises(UnknownUser, match="bob"):
        await store.access.user("bob")
    with pytest.raises(UnknownUser, match="bob"):
        await store.access.change_user("bob", UserChange(disabled=True))


async def test_a_disabled_user_can_no_longer_log_in(store):
    await a_user(store)
    await a_token(store)
    assert (await store.access.change_user("ann", UserChange(disabled=True))).disabled_at
    assert await store.access.bearer("digest-t1", TokenKind.API) is None
    assert await store.access.tokens("ann") == []
    with pytest.raises(UnknownUser):
        await a_token(store, "t2")
    assert (await messages(store))[-1] == ("user_changed", "ann: disabled, 1 token revoked")


async def test_only_a_word_lets_a_disabled_user_in_again(store):
    await a_user(store)
    await a_token(store)
    gone = await store.access.change_user("ann", UserChange(disabled=True))
    demoted = await store.access.change_user("ann", UserChange(Role.VIEWER, "new"))
    assert demoted.disabled_at == gone.disabled_at
    back = await store.access.change_user("ann", UserChange(disabled=False))
    assert (back.role, back.disabled_at) == (Role.VIEWER, None)
    assert (await messages(store))[-1] == ("user_changed", "ann: enabled")
    assert await store.access.bearer("digest-t1", TokenKind.API) is None
    await a_token(store, "t3")
    assert await store.access.bearer("digest-t3", TokenKind.API) is not None


async def test_a_token_stands_for_its_user(store, other):
    user = await a_user(store)
    token = await a_token(store)
    found = await other.access.bearer("digest-t1", TokenKind.API)
    assert (found.user, found.token) == (user, token)
    assert (token.label, token.role, token.expires_at) == ("laptop", Role.USER, None)
    with pytest.raises(UnknownUser):
        await a_token(store, "t2", "nobody")


async def test_only_the_right_kind_and_digest_is_a_bearer(store):
    await a_user(store)
    await a_token(store)
    assert await store.access.bearer("digest-t1", TokenKind.LOGIN) is None
    assert await store.access.bearer("digest-t2", TokenKind.API) is None
    assert await store.access.redeem("digest-t1") is None


async def test_the_use_of_a_token_is_noted_once_a_minute(store, place):
    await a_user(store)
    await a_token(store)
    assert (await store.access.tokens("ann"))[0].last_used_at is None
    await store.access.bearer("digest-t1", TokenKind.API)
    first = (await store.access.tokens("ann"))[0].last_used_at
    assert first is not None
    await store.access.bearer("digest-t1", TokenKind.API)
    assert (await store.access.tokens("ann"))[0].last_used_at == first
    place.execute("UPDATE tokens SET last_used_at = last_used_at - 60000000")
    await store.access.bearer("digest-t1", TokenKind.API)
    assert (await store.access.tokens("ann"))[0].last_used_at >= first


async def test_a_token_ends_with_its_time(store, place):
    await a_user(store)
    token = await a_token(store, lives_s=3600.0)
    assert token.expires_at == token.created_at + 3_600_000_000
    assert await store.access.bearer("digest-t1", TokenKind.API) is not None
    place.execute("UPDATE tokens SET expires_at = expires_at - 3600000000")
    assert await store.access.bearer("digest-t1", TokenKind.API) is None
    assert await store.access.tokens("ann") == []
    assert not await store.access.revoke_token("t1", None)


async def test_a_revoked_token_holds_no_more(store, other):
    await a_user(store)
    await a_user(store, "bob")
    await a_token(store)
    await a_token(store, "t2", "bob")
    assert not await store.access.revoke_token("t1", "bob")
    assert await store.access.revoke_token("t1", "ann")
    assert not await store.access.revoke_token("t1", "ann")
    assert await other.access.bearer("digest-t1", TokenKind.API) is None
    assert await store.access.revoke_token("t2", None)
    assert (await messages(store))[-1] == ("token_revoked", "t2 of bob")


@pytest.mark.parametrize("end", ["revoked", "expired"])
async def test_a_session_ends_with_the_token_that_opened_it(store, place, end):
    await a_user(store)
    await a_token(store, lives_s=60)
    session = NewToken(
        "s1", "ann", "digest-s1", TokenKind.LOGIN, Role.USER, lives_s=3_600, opened_by="t1"
    )
    await store.access.add_token(session)
    assert await store.access.bearer("digest-s1", TokenKind.LOGIN) is not None
    if end == "revoked":
        await store.access.revoke_token("t1", None)
    else:
        place.execute("UPDATE tokens SET expires_at = expires_at - 60000000 WHERE id = 't1'")
    assert await store.access.bearer("digest-s1", TokenKind.LOGIN) is None


async def test_tokens_are_listed_newest_first(store):
    for user in ("ann", "bob"):
        await a_user(store, user)
    for number, user in enumerate(["ann", "bob", "ann"]):
        await a_token(store, f"t{number}", user)
    assert [token.id for token in await store.access.tokens("ann")] == ["t2", "t0"]
    assert [token.id for token in await store.access.tokens(None)] == ["t2", "t1", "t0"]


async def test_a_link_is_redeemed_once_however_many_come(store, other):
    await a_user(store)
    await a_token(store, kind=TokenKind.LINK)
    comers = [each.access.redeem("digest-t1") for each in (store, other) * 5]
    let_in = [found for found in await asyncio.gather(*comers) if found is not None]
    assert [found.user.name for found in let_in] == ["ann"]
    kinds = [kind for kind, _ in await messages(store)]
    assert kinds == ["user_added", "token_added", "token_redeemed"]


async def test_usage_counts_what_is_under_way(store):
    assert await store.access.usage("local") == type(await store.access.usage("local"))(0, 0)
    job = await factories.job(store, 5)
    await factories.job(store, 2)
    who = await factories.worker(store)
    leased = await factories.claim(store, job.id, who, 3)
    await factories.finish(store, who, leased[:2])
    usage = await store.access.usage("local")
    assert (usage.unfinished_jobs, usage.open_items) == (2, 5)
    usage = await store.access.usage("somebody")
    assert (usage.unfinished_jobs, usage.open_items) == (0, 0)
    await factories.finish(store, who, leased[2:])


async def test_old_tokens_go_with_the_other_records(store, place):
    await a_user(store)
    await a_token(store)
    await a_token(store, "t2")
    await store.access.revoke_token("t1", None)
    await store.jobs.retain(60_000_000)
    assert len(place.execute("SELECT id FROM tokens")) == 2
    place.execute("UPDATE tokens SET revoked_at = revoked_at - 120000000")
    await store.jobs.retain(60_000_000)
    assert place.execute("SELECT id FROM tokens") == [("t2",)]
