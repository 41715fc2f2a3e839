"""The difference between two passes is the difference between the mirror's rows at their ends."""

import random
from collections.abc import Mapping
from itertools import combinations

import msgspec
import pytest

from headgate.core.errors import UnknownJob, UnknownMirror, UsageError
from headgate.core.mirror import ChangeKind, Closing, Proof
from headgate.engine.mirror_diff import diff_page, difference, differences
from headgate.ports.mirrors import DiffQuery, MirrorQuery
from tests.kit.mirrors import INCREMENTAL, PEOPLE, PassRun, a_pass, rows, run_of, whole_pass

PASSES = 7
IDS = range(6)
Snapshot = Mapping[str, object]


async def random_pass(store, rng: random.Random) -> PassRun:
    """A pass that sees some rows in some version; it may be partial, unproven or unfinished."""
    incremental = rng.random() < 0.3
    checkpoint = msgspec.structs.replace(PEOPLE, mode=INCREMENTAL) if incremental else PEOPLE
    run = await run_of(store, checkpoints=[checkpoint])
    (page,) = await run.claim(1)
    seen = [
        row
        for each in IDS
        if rng.random() < 0.6
        for row in rows(each, body={"v": rng.randrange(3)}, deleted=rng.random() < 0.15)
    ]
    await run.settle(page, rows=seen)
    proof = Proof.UNPROVEN if rng.random() < 0.3 else Proof.COVERED
    (closing,) = await run.claim(1)
    await run.settle(closing, closing=Closing("people", proof))
    assert await store.jobs.finish_job(run.job.id)
    return run


def expected(older: Snapshot, newer: Snapshot, first: Mapping[str, int], at: int) -> set[object]:
    found: set[object] = set()
    for each in older.keys() | newer.keys():
        if each not in newer:
            found.add((each, "deleted"))
        elif each not in older:
            found.add((each, "added" if first[each] > at else "restored"))
        elif older[each] != newer[each]:
            found.add((each, "changed"))
    return found


@pytest.mark.parametrize("seed", range(25))
async def test_any_two_passes_differ_as_their_rows_do(store, seed):
    rng = random.Random(seed)
    ends: dict[int, Snapshot] = {0: {}}
    for _ in range(PASSES):
        run = await random_pass(store, rng)
        ends[run.job.id] = {row.id: msgspec.json.decode(row.body) for row in await run.stored()}
    stream = await run.stream()
    first = {row.id: row.first_pass for row in await run.stored(deleted=True)}
    for older, newer in combinations(ends, 2):
        before, after = ends[older], ends[newer]
        query = DiffQuery(stream.id, older, newer, limit=2)
        found = [each async for each in differences(store.mirrors, query)]
        kinds = {(each.id, str(each.kind)) for each in found}
        assert kinds == expected(before, after, first, older), (older, newer)
        assert len(found) == len(kinds)
        for each in found:
            bodies = [text and msgspec.json.decode(text) for text in (each.before, each.after)]
            assert bodies == [before.get(each.id), after.get(each.id)]


async def test_the_fields_that_differ_are_named(store):
    first = await whole_pass(store, 1)
    run = await run_of(store)
    (page,) = await run.claim(1)
    await run.settle(page, rows=rows(1, body={"new": None}))
    query = DiffQuery((await run.stream()).id, first.job.id, run.job.id)
    ((found,), _) = await diff_page(store.mirrors, query)
    assert (found.kind, found.fields) == (ChangeKind.CHANGED, ["new"])


async def test_without_history_a_change_is_known_and_its_body_is_not(store):
    first = await whole_pass(store, 1, history=False)
    run = await run_of(store, history=False)
    (page,) = await run.claim(1)
    await run.settle(page, rows=rows(1, body={"x": 1}))
    query = DiffQuery((await run.stream()).id, first.job.id, run.job.id)
    ((found,), _) = await diff_page(store.mirrors, query)
    assert (found.kind, found.before, found.fields) == (ChangeKind.CHANGED, None, [])
    (row,) = await store.mirrors.diff_rows(query)
    assert difference(row, run.job.id, run.job.id) is None


async def test_the_older_pass_is_named_first(store):
    run = await whole_pass(store, 1)
    query = DiffQuery((await run.stream()).id, run.job.id, run.job.id)
    with pytest.raises(UsageError, match="older pass first"):
        await diff_page(store.mirrors, query)


async def test_a_mirror_is_found_by_its_owner_only(store):
    request = a_pass()
    owned = msgspec.structs.replace(request.job, owner="ann")
    job = await store.mirrors.begin_pass(msgspec.structs.replace(request, job=owned))
    find = store.mirrors.find
    for owner in (None, "ann"):
        assert (await find(MirrorQuery(job.mirror_id, owner=owner))).owner == "ann"
        assert (await find(MirrorQuery(pass_id=job.id, owner=owner))).id == job.mirror_id
    with pytest.raises(UnknownMirror):
        await find(MirrorQuery(job.mirror_id, owner="bob"))
    with pytest.raises(UnknownJob):
        await find(MirrorQuery(pass_id=job.id, owner="bob"))
    with pytest.raises(UnknownMirror):
        await find(MirrorQuery(job.mirror_id + 1))


async def test_a_pass_is_found_after_its_job_was_deleted(store):
    run = await whole_pass(store, 1)
    while await store.jobs.delete_job(run.job.id):
        pass
    with pytest.raises(UnknownJob):
        await store.reads.job(run.job.id)
    assert (await store.mirrors.find(MirrorQuery(pass_id=run.job.id))).name == "books"
