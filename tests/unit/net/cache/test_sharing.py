"""One caller fetches, the others wait for it; and what becomes of them when it fails."""

import asyncio
from collections import Counter

import pytest

from headgate.core.call import CallKind
from headgate.net.cache.coalescing import SharedFetch, SharedFetches
from headgate.net.failure import WireFailure
from tests.kit.answers import Answer, always, tagged

CACHED, FETCHED = CallKind.CACHED, CallKind.FETCHED
SHARED, REVALIDATED = CallKind.SHARED, CallKind.REVALIDATED
FRESH = ("Cache-Control", "max-age=60")
CALLERS = 64


def fresh(body=b"hello"):
    return always(Answer(200, [FRESH], body))


async def all_at_once(rig, callers=CALLERS, **options):
    """Everybody asks before the first request leaves; what each of them got, or was told."""
    rig.let_out.clear()
    tasks = [asyncio.create_task(rig.get(**options)) for _ in range(callers)]
    for _ in range(10):
        await rig.clock.sleep(0)
    rig.let_out.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


def kinds(answers):
    return Counter(answer.kind for answer in answers)


@pytest.mark.parametrize("body", [b"hello", b"x" * 1_000_000])
async def test_a_cold_url_is_fetched_once(rig, body):
    rig.provider.script = fresh(body)
    answers = await all_at_once(rig)
    assert kinds(answers) == {FETCHED: 1, SHARED: CALLERS - 1}
    assert {answer.body for answer in answers} == {body}
    assert rig.statuses == [200]


async def test_a_stale_url_is_confirmed_once(rig):
    rig.provider.script = tagged(b"hello", "max-age=60")
    await rig.get()
    await rig.clock.advance(60)
    answers = await all_at_once(rig)
    assert kinds(answers) == {REVALIDATED: 1, SHARED: CALLERS - 1}
    assert rig.statuses == [200, 304]


async def test_there_are_as_many_304s_as_stale_entries(rig):
    rig.provider.script = tagged(b"hello", "max-age=60")
    paths = [f"/{number}" for number in range(20)]
    for path in paths:
        await rig.get(path)
    await rig.clock.advance(60)
    answers = await asyncio.gather(*(rig.get(path) for path in paths * 3))
    assert kinds(answers)[REVALIDATED] == 20
    assert Counter(rig.statuses) == {200: 20, 304: 20}


async def test_an_answer_that_cannot_be_shared_is_fetched_by_each_caller(rig):
    rig.provider.script = always(Answer(200, [("Cache-Control", "no-store")], b"mine"))
    assert kinds(await all_at_once(rig)) == {FETCHED: CALLERS}
    assert len(rig.sent) == CALLERS


async def test_a_known_uncacheable_url_is_not_coalesced(rig):
    rig.provider.script = always(Answer(200, [("Cache-Control", "no-store")], b"mine"))
    await rig.get()
    rig.let_out.clear()
    rig.sent.clear()
    tasks = [asyncio.create_task(rig.get()) for _ in range(3)]
    for _ in range(10):
        await rig.clock.sleep(0)
    assert len(rig.sent) == 3
    rig.let_out.set()
    await asyncio.gather(*tasks)


async def test_after_a_while_they_wait_again(rig):
    rig.provider.script = always(Answer(200, [("Cache-Control", "no-store")], b"mine"))
    await rig.get()
    await rig.clock.advance(SharedFetches.UNSHAREABLE_S)
    rig.provider.script = fresh()
    assert kinds(await all_at_once(rig)) == {FETCHED: 1, SHARED: CALLERS - 1}


async def test_what_can_be_shared_after_all_is_waited_for_again(rig):
    rig.provider.script = always(Answer(200, [("Cache-Control", "no-store")], b"mine"))
    await rig.get()
    rig.provider.script = always(Answer(200, [("Cache-Control", "max-age=10")], b"ours"))
    await rig.get()
    await rig.clock.advance(10)
    assert kinds(await all_at_once(rig)) == {FETCHED: 1, SHARED: CALLERS - 1}


async def test_when_the_first_fails_the_next_one_tries_and_the_rest_wait(rig):
    rig.provider.script = fresh()
    rig.unanswered = 2
    answers = await all_at_once(rig)
    failed = [answer for answer in answers if isinstance(answer, WireFailure)]
    assert len(failed) == 2
    assert kinds(a for a in answers if a not in failed) == {FETCHED: 1, SHARED: CALLERS - 3}
    assert rig.statuses == [200]


async def test_a_failing_server_gets_one_request_at_a_time(rig):
    rig.provider.script = always(Answer(503))
    answers = await all_at_once(rig)
    assert Counter(answer.status for answer in answers) == {503: CALLERS}
    assert rig.provider.overlap(f"127.0.0.1:{rig.provider.port}") == 1


async def test_a_caller_that_is_cancelled_does_not_take_the_others_along(rig):
    rig.provider.script = fresh()
    rig.let_out.clear()
    tasks = [asyncio.create_task(rig.get()) for _ in range(3)]
    for _ in range(10):
        await rig.clock.sleep(0)
    tasks[0].cancel()
    rig.let_out.set()
    _, *others = await asyncio.gather(*tasks, return_exceptions=True)
    assert kinds(others) == {FETCHED: 1, SHARED: 1}


async def test_a_waiting_request_can_be_cancelled(rig):
    rig.provider.script = fresh()
    rig.let_out.clear()
    tasks = [asyncio.create_task(rig.get()) for _ in range(3)]
    for _ in range(10):
        await rig.clock.sleep(0)
    tasks[1].cancel()
    rig.let_out.set()
    first, _, last = await asyncio.gather(*tasks, return_exceptions=True)
    assert (first.kind, last.kind) == (FETCHED, SHARED)


async def test_a_reader_that_stops_reading_is_not_waited_for_forever(rig):
    rig.provider.script = fresh()
    idle = await rig.ask()
    waiting = asyncio.create_task(rig.get())
    await rig.clock.until_asleep(2)  # the sweeper, and the caller that waits for the body
    await rig.clock.advance(SharedFetch.STALL_S)
    assert (await waiting).kind is FETCHED
    await idle.close()


async def test_gates_may_hold_the_first_up_as_long_as_they_like(rig):
    rig.provider.script = fresh()
    rig.let_out.clear()
    tasks = [asyncio.create_task(rig.get()) for _ in range(3)]
    await rig.clock.advance(10 * SharedFetch.STALL_S)
    assert len(rig.sent) == 1
    rig.let_out.set()
    assert kinds(await asyncio.gather(*tasks)) == {FETCHED: 1, SHARED: 2}


async def test_variants_are_fetched_once_each(rig):
    def script(request):
        tongue = request.headers["accept-language"].encode()
        return Answer(200, [FRESH, ("Vary", "Accept-Language")], tongue)

    rig.provider.script = script
    rig.let_out.clear()
    tongues = ["de", "fr"] * 8
    tasks = [asyncio.create_task(rig.get(accept_language=tongue)) for tongue in tongues]
    for _ in range(10):
        await rig.clock.sleep(0)
    rig.let_out.set()
    answers = await asyncio.gather(*tasks)
    assert [answer.body.decode() for answer in answers] == tongues
    assert len(rig.sent) == 2


async def test_no_cache_requests_are_not_coalesced(rig):
    rig.provider.script = fresh()
    answers = await all_at_once(rig, callers=4, cache_control="no-cache")
    assert kinds(answers) == {FETCHED: 4}
