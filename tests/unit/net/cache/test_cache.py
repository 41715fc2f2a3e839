"""Hits, revalidations, variants and invalidation, over a real wire."""

import asyncio
import threading

import pytest

from headgate.core.call import CallKind
from headgate.core.provider import CachePolicy
from headgate.net.failure import WireFailure
from tests.kit.answers import Answer, always, by_path, in_turn, tagged

CACHED, FETCHED, REVALIDATED = CallKind.CACHED, CallKind.FETCHED, CallKind.REVALIDATED
FRESH = ("Cache-Control", "max-age=60")


def fresh(body=b"hello", *headers):
    return Answer(200, [FRESH, *headers], body)


async def test_a_fresh_answer_is_given_again_without_a_request(rig):
    rig.provider.script = always(fresh(b"hello", ("X-Name", "ann"), ("X-Name", "bob")))
    first = await rig.get()
    second = await rig.get()
    assert (first.kind, second.kind) == (FETCHED, CACHED)
    assert second.body == b"hello"
    assert second.headers["x-name"] == "ann, bob"
    assert rig.statuses == [200]


async def test_an_answer_from_the_cache_has_its_age(rig):
    rig.provider.script = always(fresh(b"", ("Age", "10")))
    await rig.get()
    await rig.clock.advance(7.5)
    assert (await rig.get()).headers["age"] == "17"


async def test_a_stale_answer_is_confirmed_and_fresh_again(rig):
    rig.provider.script = tagged(b"hello", "max-age=60")
    await rig.get()
    await rig.clock.advance(60)
    confirmed = await rig.get()
    assert (confirmed.kind, confirmed.status, confirmed.body) == (REVALIDATED, 200, b"hello")
    assert rig.statuses == [200, 304]
    await rig.clock.advance(59)
    assert (await rig.get()).kind is CACHED
    await rig.clock.advance(1)
    assert (await rig.get()).kind is REVALIDATED


async def test_the_headers_of_a_304_are_stored(rig):
    old = [FRESH, ("ETag", '"1"'), ("X-Mood", "old"), ("X-Stays", "yes")]
    new = [("Cache-Control", "max-age=600"), ("ETag", '"1"'), ("X-Mood", "new")]
    rig.provider.script = in_turn(Answer(200, old, b"hello"), Answer(304, new))
    await rig.get()
    await rig.clock.advance(60)
    await rig.get()
    await rig.clock.advance(599)
    got = await rig.get()
    assert (got.kind, got.headers["x-mood"], got.headers["x-stays"]) == (CACHED, "new", "yes")


async def test_last_modified_is_a_validator_too(rig):
    modified = ("Last-Modified", "Fri, 01 Jan 2027 00:00:00 GMT")
    rig.provider.script = in_turn(fresh(b"hello", modified), Answer(304, [FRESH]))
    await rig.get()
    await rig.clock.advance(60)
    assert (await rig.get()).kind is REVALIDATED
    assert ("if-modified-since", modified[1]) in rig.sent[1].headers


async def test_a_changed_answer_replaces_the_stale_one(rig):
    rig.provider.script = tagged(b"old", "max-age=60")
    await rig.get()
    rig.provider.script = tagged(b"new", "max-age=60")
    await rig.clock.advance(60)
    assert (await rig.get())[:3] == (FETCHED, 200, b"new")
    assert (await rig.get())[:3] == (CACHED, 200, b"new")


async def test_a_304_for_something_else_is_asked_again_without_conditions(rig):
    rig.provider.script = in_turn(
        fresh(b"old", ("ETag", '"1"')), Answer(304, [("ETag", '"2"')]), fresh(b"new")
    )
    await rig.get()
    await rig.clock.advance(60)
    assert (await rig.get())[:3] == (FETCHED, 200, b"new")
    assert [bool(request.headers) for request in rig.sent] == [False, True, False]
    assert (await rig.get()).body == b"new"


async def test_a_condition_that_the_server_rejects_is_not_sent_twice(rig):
    rig.provider.script = in_turn(
        fresh(b"old", ("ETag", '"1"')),
        Answer(304, [("ETag", '"2"')]),
        Answer(200, [("Cache-Control", "no-store")], b"new"),
    )
    await rig.get()
    await rig.clock.advance(60)
    await rig.get()
    assert (await rig.get()).body == b"new"
    assert [bool(request.headers) for request in rig.sent] == [False, True, False, False]


@pytest.mark.parametrize("written", [False, True])
async def test_what_was_of_no_use_stays_so_though_it_is_written_late(rig, written):
    rig.provider.script = in_turn(
        fresh(b"old", ("ETag", '"1"')),
        Answer(304, [("ETag", '"2"')]),
        Answer(200, [("Cache-Control", "no-store")], b"new"),
    )
    let_write = threading.Event()
    rig.cache._cache_store._thread.submit(let_write.wait)
    await rig.get()
    flushed = asyncio.create_task(rig.cache.flush())
    await rig.clock.advance(60)
    await rig.get()
    if written:
        let_write.set()
        await flushed
        await rig.cache.flush()
    await rig.get()
    let_write.set()
    assert [bool(request.headers) for request in rig.sent] == [False, True, False, False]
    await flushed


async def test_a_failing_server_does_not_remove_the_stored_answer(rig):
    rig.provider.script = in_turn(
        fresh(b"hello", ("ETag", '"1"')), Answer(503), Answer(304, [FRESH, ("ETag", '"1"')])
    )
    await rig.get()
    await rig.clock.advance(60)
    assert (await rig.get()).status == 503
    assert (await rig.get())[:3] == (REVALIDATED, 200, b"hello")


@pytest.mark.parametrize(
    "headers",
    [
        [("Cache-Control", "no-store, max-age=60")],
        [("Cache-Control", "max-age=0")],
        [],
        [FRESH, ("Vary", "*")],
    ],
)
async def test_what_may_not_or_need_not_be_kept_is_not(rig, headers):
    rig.provider.script = always(Answer(200, headers, b"hello"))
    assert [(await rig.get()).kind for _ in range(2)] == [FETCHED, FETCHED]


@pytest.mark.parametrize("status", [206, 302, 400, 429, 500, 503])
async def test_statuses_that_are_not_lasting_answers_are_not_kept(rig, status):
    rig.provider.script = always(Answer(status, [("Last-Modified", "x")], b"no"))
    assert [(await rig.get()).kind for _ in range(2)] == [FETCHED, FETCHED]


@pytest.mark.parametrize("status", [404, 410])
async def test_nothing_there_is_an_answer_like_another(rig, status):
    rig.provider.script = always(Answer(status, [FRESH], b"nothing"))
    assert [(await rig.get()).kind for _ in range(2)] == [FETCHED, CACHED]


async def test_no_cache_is_kept_but_always_confirmed(rig):
    rig.provider.script = tagged(b"hello", "no-cache, max-age=60")
    assert [(await rig.get()).kind for _ in range(3)] == [FETCHED, REVALIDATED, REVALIDATED]


@pytest.mark.parametrize(
    ("directive", "kinds"),
    [
        ("no-cache", [FETCHED, REVALIDATED]),
        ("max-age=0", [FETCHED, REVALIDATED]),
        ("max-age=10", [FETCHED, CACHED]),
        ("no-store", [FETCHED, FETCHED]),
    ],
)
async def test_the_request_has_a_say(rig, directive, kinds):
    rig.provider.script = tagged(b"hello", "max-age=60")
    got = []
    for _ in kinds:
        got.append((await rig.get(cache_control=directive)).kind)
        await rig.clock.advance(1)
    assert got == kinds


async def test_variants_are_stored_separately(rig):
    def script(request):
        tongue = request.headers.get("accept-language", "none")
        return fresh(tongue.encode(), ("Vary", "Accept-Language"))

    rig.provider.script = script
    for kind in (FETCHED, CACHED):
        assert (await rig.get(accept_language="de"))[::2] == (kind, b"de")
        assert (await rig.get(accept_language="fr"))[::2] == (kind, b"fr")
        assert (await rig.get())[::2] == (kind, b"none")
    assert (await rig.get(accept_language="de", user_agent="x")).kind is CACHED


async def test_another_variant_is_not_confirmed_for_this_one(rig):
    """A request in French with the date of the German answer may get a 304 and German."""

    def script(request):
        if "if-modified-since" in request.headers:
            return Answer(304, [FRESH])
        tongue = request.headers["accept-language"]
        modified = ("Last-Modified", "Fri, 01 Jan 2027 00:00:00 GMT")
        return fresh(tongue.encode(), ("Vary", "Accept-Language"), modified)

    rig.provider.script = script
    await rig.get(accept_language="de")
    assert (await rig.get(accept_language="fr")).body == b"fr"


@pytest.mark.parametrize(
    "viewer",
    [
        {"partition": "bob"},
        {"authorization": "Bearer bob"},
        {"cookie": "session=bob"},
        {"x_api_key": "bob"},
    ],
)
async def test_a_user_does_not_see_cached_answers_of_another(rig, viewer):
    rig.provider.script = in_turn(fresh(b"for ann"), fresh(b"for bob"))
    await rig.get()
    assert (await rig.get(**viewer)).body == b"for bob"
    assert (await rig.get()).body == b"for ann"
    assert (await rig.get(**viewer)).body == b"for bob"


async def test_authorized_and_private_answers_are_kept_for_whom_they_are(rig):
    rig.provider.script = always(Answer(200, [("Cache-Control", "private, max-age=60")], b"ann"))
    assert [(await rig.get(authorization="Bearer ann")).kind for _ in range(2)] == [FETCHED, CACHED]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_change_reaches_every_process(rig, method):
    rig.provider.script = always(fresh())
    await rig.get()
    await rig.get(partition="bob")
    await rig.get("/other")
    assert (await rig.get(method=method)).kind is FETCHED
    assert [(await rig.get(partition=who)).kind for who in ("ann", "bob")] == [FETCHED, FETCHED]
    assert (await rig.get("/other")).kind is CACHED


async def test_a_change_that_was_refused_changes_nothing(rig):
    rig.provider.script = in_turn(fresh(), Answer(403), fresh())
    await rig.get()
    await rig.get(method="POST")
    assert (await rig.get()).kind is CACHED


async def test_a_change_that_got_no_answer_may_have_happened(rig):
    rig.provider.script = always(fresh())
    await rig.get()
    rig.unanswered = 1
    with pytest.raises(WireFailure):
        await rig.get(method="POST")
    assert (await rig.get()).kind is FETCHED


async def test_an_answer_from_before_a_change_is_not_kept(rig):
    rig.provider.script = always(fresh())
    under_way = await rig.ask()
    await rig.get(method="POST")
    assert [chunk async for chunk in under_way.chunks()] == [b"hello"]
    await under_way.close()
    assert (await rig.get()).kind is FETCHED


async def test_a_confirmation_from_before_a_change_does_not_bring_the_old_back(rig):
    rig.provider.script = tagged(b"hello", "max-age=60")
    await rig.get()
    await rig.clock.advance(60)
    at_once, held, go_on = rig.send, asyncio.Event(), asyncio.Event()

    async def send(request):
        reply = await at_once(request)
        if request.method == "GET" and not held.is_set():
            held.set()
            await go_on.wait()
        return reply

    rig.send = send
    confirming = asyncio.create_task(rig.get())
    await held.wait()
    await rig.get(method="POST")
    go_on.set()
    assert (await confirming).kind is REVALIDATED
    assert (await rig.get()).kind is FETCHED


async def test_a_default_time_applies_if_the_server_states_none(rig):
    policy = CachePolicy(default_ttl_s=5)
    rig.provider.script = by_path(
        {"/silent": always(Answer()), "/says": always(fresh()), "/no": tagged(b"", "no-store")}
    )
    for path in ("/silent", "/says", "/no"):
        await rig.get(path, policy=policy)
    await rig.clock.advance(4)
    assert (await rig.get("/silent", policy=policy)).kind is CACHED
    assert (await rig.get("/no", policy=policy)).kind is FETCHED
    await rig.clock.advance(1)
    assert (await rig.get("/silent", policy=policy)).kind is FETCHED
    assert (await rig.get("/says", policy=policy)).kind is CACHED


async def test_a_provider_may_be_left_out(rig):
    rig.provider.script = always(fresh())
    policy = CachePolicy(enabled=False)
    assert [(await rig.get(policy=policy)).kind for _ in range(2)] == [FETCHED, FETCHED]


async def test_head_and_get_are_stored_separately(rig):
    rig.provider.script = always(fresh())
    assert (await rig.get(method="HEAD"))[::2] == (FETCHED, b"")
    assert (await rig.get())[::2] == (FETCHED, b"hello")
    assert (await rig.get(method="HEAD"))[::2] == (CACHED, b"")
    assert (await rig.get())[::2] == (CACHED, b"hello")


@pytest.mark.parametrize("name", ["if_none_match", "range"])
async def test_a_conditional_request_bypasses_the_cache(rig, name):
    rig.provider.script = always(fresh())
    await rig.get()
    assert (await rig.get(**{name: "x"})).kind is FETCHED


async def test_it_is_still_there_after_a_restart(rig):
    rig.provider.script = always(fresh())
    await rig.get()
    await rig.cache.flush()
    async with rig.another_cache() as cache:
        assert (await rig.get(cache=cache)).kind is CACHED


async def test_bytes_in_headers_that_are_not_text_come_back_as_they_were(rig):
    rig.provider.script = always(fresh(b"", ("Content-Disposition", 'filename="f\xfcr.pdf"')))
    first = await rig.get()
    await rig.cache.flush()
    second = await rig.get()
    assert second.kind is CACHED
    assert second.headers["content-disposition"] == first.headers["content-disposition"]
