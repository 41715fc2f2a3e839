"""Bodies that the caller keeps: the cache remembers their heads, and what the caller noted."""

import asyncio

import pytest

from headgate.core.call import CallKind
from headgate.core.provider import CachePolicy
from headgate.net.cache import CallerBody
from headgate.net.failure import WireFailure
from tests.kit.answers import Answer, always, in_turn, tagged

CACHED, FETCHED = CallKind.CACHED, CallKind.FETCHED
SHARED, REVALIDATED = CallKind.SHARED, CallKind.REVALIDATED
FRESH = ("Cache-Control", "max-age=60")
PAPERS = CallerBody("/papers")
REFETCHED = CallerBody("/papers", refetch=True)


async def download(rig, note="a.pdf", caller_body=PAPERS, path="/", **options):
    """Fetch and keep, as a caller does; its source, the body, and the note."""
    reply = await rig.ask(path, caller_body=caller_body, **options)
    try:
        body = b"".join([chunk async for chunk in reply.chunks()])
        if reply.kind is FETCHED:
            await reply.keep(note)
    finally:
        await reply.close()
    return reply.kind, body, reply.kept


async def test_a_fresh_answer_is_known_by_its_note(rig):
    rig.provider.script = always(Answer(200, [FRESH, ("X-Name", "ann")], b"hello"))
    assert await download(rig) == (FETCHED, b"hello", "")
    assert await download(rig) == (CACHED, b"", "a.pdf")
    reply = await rig.ask(caller_body=PAPERS)
    assert (reply.status, dict(reply.headers)["x-name"]) == (200, "ann")
    assert rig.statuses == [200]


async def test_it_is_known_to_another_process(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    await download(rig, note="änderung/ü.pdf")
    await rig.cache.flush()
    async with rig.another_cache() as cache:
        assert await download(rig, cache=cache) == (CACHED, b"", "änderung/ü.pdf")


async def test_a_stale_answer_costs_a_question_and_no_body(rig):
    rig.provider.script = tagged(b"hello", "max-age=60")
    await download(rig)
    await rig.clock.advance(60)
    assert await download(rig) == (REVALIDATED, b"", "a.pdf")
    assert await download(rig) == (CACHED, b"", "a.pdf")
    assert rig.statuses == [200, 304]


async def test_a_changed_answer_comes_with_its_body(rig):
    rig.provider.script = tagged(b"old", "max-age=60")
    await download(rig, "old.pdf")
    rig.provider.script = tagged(b"new", "max-age=60")
    await rig.clock.advance(60)
    assert await download(rig, "new.pdf") == (FETCHED, b"new", "")
    assert await download(rig) == (CACHED, b"", "new.pdf")


async def test_a_changed_answer_that_is_not_kept_leaves_the_old_one(rig):
    rig.provider.script = tagged(b"old", "max-age=60")
    await download(rig, "old.pdf")
    rig.provider.script = in_turn(Answer(200, [FRESH, ("ETag", "2")], b"bad"))
    await rig.clock.advance(60)
    await rig.get(caller_body=PAPERS)
    rig.provider.script = tagged(b"old", "max-age=60")
    assert await download(rig) == (REVALIDATED, b"", "old.pdf")


async def test_what_is_gone_is_fetched_without_a_condition(rig):
    rig.provider.script = tagged(b"hello", "max-age=60")
    await download(rig, "gone.pdf")
    assert await download(rig, "new.pdf", REFETCHED) == (FETCHED, b"hello", "")
    assert rig.sent[-1].headers == ()
    assert await download(rig) == (CACHED, b"", "new.pdf")


@pytest.mark.parametrize(
    "headers",
    [
        [("Cache-Control", "no-store, max-age=60")],
        [],
        [FRESH, ("Vary", "*")],
    ],
)
async def test_what_may_not_be_kept_is_not(rig, headers):
    rig.provider.script = always(Answer(200, headers, b"hello"))
    assert [await download(rig) for _ in range(2)] == [(FETCHED, b"hello", "")] * 2


async def test_a_request_may_forbid_it(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    for _ in range(2):
        assert (await download(rig, cache_control="no-store"))[0] is FETCHED


async def test_variants_have_separate_notes(rig):
    rig.provider.script = always(Answer(200, [FRESH, ("Vary", "Accept")], b"hello"))
    for kind in (FETCHED, CACHED):
        for accept in ("pdf", "html"):
            assert (await download(rig, accept, accept=accept))[0] is kind
    assert await download(rig, accept="html") == (CACHED, b"", "html")


async def test_places_know_nothing_of_each_other(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    await download(rig)
    assert await download(rig, caller_body=CallerBody("/other")) == (FETCHED, b"hello", "")
    assert (await rig.get())[::2] == (FETCHED, b"hello")
    assert (await rig.get())[::2] == (CACHED, b"hello")
    assert (await download(rig, partition="bob"))[0] is FETCHED


async def test_the_size_of_an_external_body_is_not_limited(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"x" * 100_000))
    small = CachePolicy(max_bytes=1_000)
    await download(rig, policy=small)
    assert (await download(rig, policy=small))[0] is CACHED
    await rig.cache.flush()
    assert not [path for path in rig.blobs_folder.rglob("*") if path.is_file()]


async def test_a_body_that_was_not_read_to_its_end_is_not_kept(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"x" * 1_000_000))
    reply = await rig.ask(caller_body=PAPERS)
    async for _ in reply.chunks():
        break
    await reply.keep("half.pdf")
    await reply.close()
    assert (await download(rig))[0] is FETCHED


async def test_a_body_that_is_cut_is_not_kept(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"hello", cut_at=3))
    with pytest.raises(WireFailure, match="ended before the answer was complete"):
        await download(rig)
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    assert await download(rig) == (FETCHED, b"hello", "")


async def test_after_the_end_nothing_is_kept(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    reply = await rig.ask(caller_body=PAPERS)
    assert await reply.read(100) == b"hello"
    await reply.close()
    await reply.keep("late.pdf")
    assert (await download(rig))[0] is FETCHED


async def test_a_change_meanwhile_makes_it_worthless(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    reply = await rig.ask(caller_body=PAPERS)
    assert await reply.read(100) == b"hello"
    await rig.get(method="POST")
    await reply.keep("old.pdf")
    await reply.close()
    assert (await download(rig))[0] is FETCHED


@pytest.mark.parametrize("status", [301, 404, 410])
async def test_an_answer_without_a_file_needs_no_note(rig, status):
    rig.provider.script = always(Answer(status, [FRESH, ("Location", "/b")], b"over there"))
    for kind in (FETCHED, CACHED):
        reply = await rig.ask(caller_body=PAPERS)
        await reply.close()
        assert (reply.kind, reply.status, reply.kept) == (kind, status, "")
        assert dict(reply.headers)["location"] == "/b"


@pytest.mark.parametrize("header", ["range", "if_none_match", "if_range"])
async def test_a_range_request_bypasses_the_cache(rig, header):
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    await download(rig)
    for _ in range(2):
        assert await download(rig, "part.pdf", **{header: "x"}) == (FETCHED, b"hello", "")
    assert (await download(rig))[2] == "a.pdf"


def part(begin, end, size=10, status=206):
    told = [("Content-Range", f"bytes {begin}-{end}/{size}"), ("ETag", '"1"'), FRESH]
    return Answer(status, told, b"x" * (end - begin + 1))


THE_REST = {"range": "bytes=4-", "if_range": '"1"'}


async def test_a_body_that_was_fetched_in_two_parts_is_known_as_a_whole(rig):
    rig.provider.script = in_turn(part(4, 9), Answer(304, [FRESH, ("ETag", '"1"')]))
    assert await download(rig, **THE_REST) == (FETCHED, b"x" * 6, "")
    assert rig.sent[0].headers == (("range", "bytes=4-"), ("if-range", '"1"'))
    reply = await rig.ask(caller_body=PAPERS)
    assert (reply.kind, reply.status, reply.kept) == (CACHED, 200, "a.pdf")
    told = dict(reply.headers)
    assert (told["content-length"], "content-range" in told) == ("10", False)
    await rig.clock.advance(60)
    assert await download(rig) == (REVALIDATED, b"", "a.pdf")


@pytest.mark.parametrize("answer", [part(4, 8), part(4, 9, "*"), Answer(416, [FRESH])])
async def test_what_is_not_the_rest_is_not_kept(rig, answer):
    rig.provider.script = in_turn(answer, Answer(200, [FRESH], b"hello"))
    await download(rig, **THE_REST)
    assert await download(rig) == (FETCHED, b"hello", "")


async def test_a_new_version_comes_whole_and_is_kept(rig):
    rig.provider.script = always(Answer(200, [FRESH, ("ETag", '"2"')], b"hello"))
    assert await download(rig, **THE_REST) == (FETCHED, b"hello", "")
    assert await download(rig) == (CACHED, b"", "a.pdf")


async def test_without_a_caller_body_a_partial_answer_is_not_cached(rig):
    rig.provider.script = in_turn(part(4, 9), Answer(200, [FRESH], b"hello"))
    await rig.get(**THE_REST)
    assert (await rig.get()).kind is FETCHED


async def begin_together(rig, number=8):
    """The first has its head, and the others wait for it."""
    reply = await rig.ask(caller_body=PAPERS)
    others = [asyncio.create_task(download(rig)) for _ in range(number - 1)]
    for _ in range(10):
        await rig.clock.sleep(0)
    assert len(rig.sent) == 1
    return reply, others


async def test_others_wait_until_it_is_safe(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    reply, others = await begin_together(rig)
    assert await reply.read(100) == b"hello"
    for _ in range(10):
        await rig.clock.sleep(0)
    assert len(rig.sent) == 1, "the body has arrived, but it is not safe yet"
    await reply.keep("a.pdf")
    await reply.close()
    assert await asyncio.gather(*others) == [(SHARED, b"", "a.pdf")] * 7
    assert rig.statuses == [200]


async def test_where_nothing_is_kept_the_next_one_goes_by_itself(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    reply, others = await begin_together(rig)
    assert await reply.read(100) == b"hello"
    await reply.close()
    answers = await asyncio.gather(*others)
    assert sorted(answers) == [(FETCHED, b"hello", ""), *[(SHARED, b"", "a.pdf")] * 6]
    assert len(rig.sent) == 2


async def test_callers_stop_waiting_for_a_note_that_never_arrives(rig):
    rig.provider.script = always(Answer(200, [FRESH], b"hello"))
    reply, others = await begin_together(rig, 2)
    assert await reply.read(100) == b"hello"
    await rig.clock.advance(31)
    await rig.clock.advance(31)
    assert await others[0] == (FETCHED, b"hello", "")
    await reply.close()


async def test_what_must_be_confirmed_each_time_is_confirmed_by_each(rig):
    rig.provider.script = tagged(b"hello", "no-cache")
    reply, others = await begin_together(rig, 4)
    assert await reply.read(100) == b"hello"
    await reply.keep("a.pdf")
    await reply.close()
    assert await asyncio.gather(*others) == [(REVALIDATED, b"", "a.pdf")] * 3
    assert sorted(rig.statuses) == [200, 304, 304, 304]
