"""The cache stays within its size, removes the least recently used first, and leaves no rubbish."""

import pytest

from headgate.core.call import CallKind
from headgate.net.cache.file import load_queries
from tests.kit.answers import Answer, always

CACHED, FETCHED = CallKind.CACHED, CallKind.FETCHED
FRESH = ("Cache-Control", "max-age=1000000")
LARGE = b"y" * 50_000


def by_number(request):
    return Answer(
        200, [FRESH], request.path.encode().ljust(10_000 if "s" in request.path else 50_000)
    )


def blobs_of(rig):
    folder = rig.folder / "blobs"
    return {path.name for path in folder.glob("??/*")} if folder.exists() else set()


def rows(rig, sql):
    return list(rig.cache._cache_store._file._writer.execute(sql))


async def kept(rig, cache, paths):
    return [path for path in paths if (await rig.get(path, cache=cache)).kind is CACHED]


async def test_the_least_recently_used_entry_is_removed_first(rig):
    rig.provider.script = by_number
    paths = [f"/s{number}" for number in range(12)]
    async with rig.another_cache(max_bytes=100_000) as cache:
        for path in paths[:9]:
            await rig.get(path, cache=cache)
            await rig.clock.advance(1)
        await cache.flush()
        await rig.clock.advance(3_600)
        assert (await rig.get(paths[0], cache=cache)).kind is CACHED
        for path in paths[9:]:
            await rig.get(path, cache=cache)
            await cache.flush()
        [(total,)] = rows(rig, "SELECT bytes FROM state")
        assert total <= 100_000
        assert await kept(rig, cache, [paths[0], *paths[9:]]) == [paths[0], *paths[9:]]
        assert (await rig.get(paths[1], cache=cache)).kind is FETCHED


async def test_no_more_is_dropped_than_is_needed(rig):
    rig.provider.script = by_number
    async with rig.another_cache(max_bytes=300_000) as cache:
        for number in range(7):
            await rig.get(f"/l{number}", cache=cache)
            await rig.clock.advance(1)
            await cache.flush()
        [(count,)] = rows(rig, "SELECT count(*) FROM entries")
        assert count == 5


async def test_the_sum_is_always_right(rig):
    rig.provider.script = by_number
    for path in ("/s1", "/s2", "/l1", "/s1"):
        await rig.get(path, cache_control="no-cache")
    await rig.get("/s2", method="POST")
    await rig.cache.flush()
    assert rows(rig, "SELECT bytes FROM state") == rows(rig, "SELECT sum(size) FROM entries")
    assert rows(rig, "SELECT bytes FROM state") == [(60_000,)]


async def test_blobs_go_with_the_last_entry_that_names_them(rig):
    rig.provider.script = always(Answer(200, [FRESH], LARGE))
    await rig.get("/one")
    await rig.get("/two")
    await rig.cache.flush()
    await rig.clock.advance(3_600)
    await rig.get("/one", method="DELETE")
    assert len(blobs_of(rig)) == 1
    await rig.get("/two", method="DELETE")
    assert blobs_of(rig) == set()


async def test_no_body_may_drive_out_most_of_the_rest(rig):
    rig.provider.script = always(Answer(200, [FRESH], LARGE))
    async with rig.another_cache(max_bytes=4 * len(LARGE) - 1) as cache:
        assert [(await rig.get(cache=cache)).kind for _ in range(2)] == [FETCHED, FETCHED]
    async with rig.another_cache(max_bytes=4 * len(LARGE)) as cache:
        assert [(await rig.get(cache=cache)).kind for _ in range(2)] == [FETCHED, CACHED]


async def orphan(rig, body=b"nobody's"):
    writer = await rig.blobs.create()
    await writer.write(body)
    return await writer.commit()


async def test_blobs_that_nothing_names_are_swept_when_they_are_old(rig):
    await rig.clock.until_asleep()
    rig.cache._sweeper.cancel()  # this time it is done by hand
    rig.provider.script = by_number
    await rig.get("/l1")
    await rig.cache.flush()
    named = blobs_of(rig)
    old = await orphan(rig, b"old")
    await rig.clock.advance(3_000)
    young = await orphan(rig, b"young")
    assert blobs_of(rig) == named | {old, young}
    await rig.clock.advance(700)
    assert await rig.cache.sweep() == 1
    assert blobs_of(rig) == named | {young}


async def test_one_process_sweeps_for_all(rig):
    await rig.clock.until_asleep()
    await orphan(rig)
    await rig.clock.advance(3_599)
    async with rig.another_cache() as cache:
        assert await cache.sweep() == 0
    assert len(blobs_of(rig)) == 1


async def test_it_sweeps_by_itself(rig):
    await orphan(rig)
    for _ in range(2):
        await rig.clock.until_asleep()
        await rig.clock.advance(rig.cache.SWEEP_S)
    await rig.clock.until_asleep()
    assert blobs_of(rig) == set()


async def test_two_caches_on_one_folder_see_the_same(rig):
    rig.provider.script = by_number
    async with rig.another_cache() as other:
        for path in ("/s1", "/l1"):
            await rig.get(path)
            await rig.cache.flush()
            assert (await rig.get(path, cache=other)).kind is CACHED
            await rig.get(path, method="POST", cache=other)
            assert (await rig.get(path)).kind is FETCHED


VALUES = {
    "find": {"key": "a"},
    "body": {"id": 1},
    "knows_url": {"url": "a"},
    "forget": {"urls": "[]"},
    "discard": {"dropped": "[]"},
    "evict": {"ids": "[]"},
    "freshen": {"entries": "[]", "bytes": b""},
    "make_room": {"entries": "[]"},
    "use": {"used": "{}"},
    "loose": {"blobs": "[]"},
    "least_used": {},
}


@pytest.mark.parametrize("name", VALUES)
async def test_no_query_looks_at_every_entry(rig, name):
    plan = rig.cache._cache_store._file._writer.execute(
        f"EXPLAIN QUERY PLAN {load_queries()[name]}", VALUES[name]
    )
    steps = [row[3] for row in plan]
    whole = [step for step in steps if step.startswith("SCAN entries") and "COVERING" not in step]
    assert whole == [], steps


async def test_a_few_seconds_of_use_are_not_written_down(rig):
    rig.provider.script = by_number
    await rig.get("/s1")
    await rig.cache.flush()
    version = rig.cache._cache_store._file._reader.pragma("data_version")
    await rig.clock.advance(599)
    await rig.get("/s1")
    await rig.cache.flush()
    assert rig.cache._cache_store._file._reader.pragma("data_version") == version
    await rig.clock.advance(2)
    await rig.get("/s1")
    await rig.cache.flush()
    assert rig.cache._cache_store._file._reader.pragma("data_version") != version


async def test_other_users_of_the_machine_cannot_read_it(rig):
    rig.provider.script = by_number
    for path in ("/s1", "/l1"):
        await rig.get(path)
    await rig.cache.flush()
    files = [path for path in rig.folder.rglob("*") if path.is_file()]
    assert len(files) >= 4
    assert {path.stat().st_mode & 0o077 for path in files if path.suffix != ".lock"} == {0}
