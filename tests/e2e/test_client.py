"""The typed client against a real server."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from headgate.client import (
    Changed,
    Client,
    Conflict,
    Counters,
    EventView,
    ItemFilter,
    ItemNotFound,
    JobNotFound,
    NewJob,
    NotAllowed,
    NotFound,
    PendingFilter,
    Refused,
    Replay,
    Reprocess,
    Rows,
)
from headgate.core.errors import IllegalMove, UnknownItem, UnknownJob
from headgate.core.status import ItemStatus, JobState
from headgate.core.user import Role
from tests.kit.api_server import ApiServer, rows_csv

pytestmark = pytest.mark.slow

EARLY = datetime(2020, 1, 1, tzinfo=UTC)
PRICE = NewJob("shop.price", key=("id",), name="prices")


@pytest.fixture
async def client(api: ApiServer) -> AsyncIterator[Client]:
    async with Client(api.url, api.token) as client:
        yield client


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_bytes(rows_csv(5, r2="fail", r3="missing", r4="review"))
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_file_goes_in_and_its_rows_come_out(client: Client, file: Path, tmp_path: Path):
    looked = await client.submit.preview(PRICE, file)
    assert (looked.format, looked.columns, len(looked.rows)) == ("csv", ["id", "name", "do"], 5)
    job_id = await client.submit.files(PRICE, file, once="one-file")
    assert await client.submit.files(PRICE, file, once="one-file") == job_id
    job = await client.jobs.wait(job_id)
    assert (job.state, job.name, job.file) == (JobState.DONE, "prices", "rows.csv")
    counts = job.counts
    assert (counts.total, counts.done, counts.error, counts.open) == (5, 2, 1, 0)
    items = [item async for item in client.items.all(job_id)]
    assert [item.status for item in items] == ["DONE", "ERROR", "NOT_FOUND", "REVIEW", "DONE"]
    assert items[0].result == {"price": 3, "seen": "name 1"}
    whole = await client.items.get(items[1].id)
    assert whole.input == {"id": "2", "name": "name 2", "do": "fail"}
    assert [attempt.outcome for attempt in whole.history] == ["error"]
    assert (await client.items.why(whole.id)).waiting is None
    (group,) = await client.jobs.errors(job_id)
    assert (group.count, group.example.item_id) == (1, whole.id)
    export = await client.exports.wait(await client.exports.ask(job_id, "csv"))
    written = await client.exports.download(export, tmp_path / "out.csv")
    assert len(written.read_text().splitlines()) == 6
    assert written.stat().st_size == export.size
    assert [each.id for each in await client.exports.ls(job_id)] == [export.id]
    assert names_in(tmp_path) == ["out.csv", "rows.csv"]  # and nothing half done


async def test_items_and_sources_become_jobs(client: Client, api: ApiServer):
    sent = [{"id": str(n), "name": "x"} for n in range(3)]
    made = await client.submit.items(PRICE, sent)
    assert (await client.jobs.wait(made)).counts.done == 3
    with pytest.raises(Refused):
        await client.submit.source(PRICE, "file:/etc/passwd")
    with pytest.raises(Refused, match=r"handler 'nix' not found"):
        await client.submit.items(NewJob("nix"), sent)
    assert "shop.price" in {handler.name for handler in await client.handlers()}
    listed = [job async for job in client.jobs.all(handler="shop.price", page_size=1)]
    assert made in {job.id for job in listed}
    assert len({job.id for job in listed}) == len(listed)


async def test_a_job_is_controlled(client: Client, tmp_path: Path):
    gate = tmp_path / "gate"
    slow = NewJob("shop.gated", config={"gate": str(gate)})
    job_id = await client.submit.items(slow, [{"id": "1"}])
    while not (await client.jobs.get(job_id)).counts.total:
        pass
    assert (await client.jobs.pause(job_id)).state is JobState.PAUSED
    with pytest.raises(Conflict) as refused:
        await client.jobs.pause(job_id)
    assert isinstance(refused.value, IllegalMove)
    (item,) = [item async for item in client.items.all(job_id, ItemFilter(waits=True))]
    assert item.waiting is not None
    assert item.waiting.why
    waiting = (await client.items.why(item.id)).waiting
    assert waiting is not None
    assert waiting.why
    assert (await client.jobs.gates(job_id)).items == []  # it asks no server
    while not any(reading.counts.total == 1 for reading in await client.jobs.history(job_id)):
        pass  # it is read once in a while
    pending = [each.id async for each in client.pending.all(PendingFilter(job_id=job_id))]
    assert set(pending) <= {item.id}
    oldest = {each.job_id: each for each in (await client.pending.oldest()).jobs}
    assert (oldest[job_id].item_id, oldest[job_id].counts.total) == (item.id, 1)
    assert (await client.jobs.set_priority(job_id, 4)).priority == 4
    await client.jobs.resume(job_id)
    gate.touch()
    assert (await client.jobs.wait(job_id)).state is JobState.DONE
    done_again = Reprocess(statuses=[ItemStatus.DONE])
    none = msgspec.structs.replace(done_again, except_ids=[item.id])
    assert await client.jobs.reprocess(job_id, none) == 0
    assert await client.jobs.reprocess(job_id, done_again) == 1
    done = await client.jobs.kickoff(job_id, 10_000)
    assert done.remaining == 0
    await client.jobs.wait(job_id)
    await client.jobs.delete(job_id)
    with pytest.raises(JobNotFound) as gone:
        await client.jobs.get(job_id)
    assert isinstance(gone.value, UnknownJob)


async def test_dead_letters_are_found_and_replayed(client: Client):
    rows = [{"id": f"dead-{n}", "do": "fail"} for n in range(2)]
    job_id = await client.submit.items(PRICE, rows)
    await client.jobs.wait(job_id)
    dead = [item async for item in client.dead_letters.all() if item.job_id == job_id]
    assert len(dead) == 2
    totals = await client.dead_letters.totals(error_class=dead[0].error_class)
    assert [each.count for each in totals.jobs if each.job_id == job_id] == [len(dead)]
    assert totals.count == sum(each.count for each in totals.jobs)
    assert (await client.dead_letters.totals(error_class="poison")).count == 0
    tried = await client.dead_letters.replay(Replay(item_ids=[dead[0].id], dry_run=True))
    assert (tried.count, tried.job_ids) == (1, [job_id])
    others = Replay(everything=True, job_type="nobody", dry_run=True)
    assert (await client.dead_letters.replay(others)).count == 0
    assert (await client.dead_letters.replay(Replay(job_id=job_id))).count == 2


async def test_items_of_many_jobs_are_found_by_time_and_requeued(client: Client):
    job_id = await client.submit.items(PRICE, [{"id": str(n)} for n in range(3)])
    await client.jobs.wait(job_id)
    done = PendingFilter(statuses=[ItemStatus.DONE], job_id=job_id)
    while len(found := [item.id async for item in client.pending.all(done)]) < 3:
        pass  # lists by time leave out the last two seconds
    tried = await client.pending.reprocess(done, except_ids=found[:1], dry_run=True)
    assert (tried.count, tried.job_ids) == (2, [job_id])
    before = msgspec.structs.replace(done, changed_to=EARLY)
    assert (await client.pending.reprocess(before)).count == 0
    lately = ItemFilter(order="updated", changed_from=EARLY)
    assert len([item async for item in client.items.all(job_id, lately)]) == 3
    assert (await client.pending.reprocess(done)).count == 3


async def test_a_person_decides(client: Client):
    job_id = await client.submit.items(PRICE, [{"id": str(n), "do": "review"} for n in range(3)])
    await client.jobs.wait(job_id)
    one, two, three = [item.id async for item in client.reviews.all(job_id)]
    taken = await client.items.accept(one, "Q2", reason="it is the planet")
    assert (taken.status, taken.result) == (ItemStatus.DONE, {"match": "Q2"})
    assert (await client.items.reject(two)).status is ItemStatus.NOT_FOUND
    assert (await client.items.skip(three)).status is ItemStatus.SKIPPED
    with pytest.raises(Conflict):
        await client.items.accept(one, "Q1")


async def test_changes_arrive_as_events(client: Client):
    job_id = await client.submit.items(PRICE, [{"id": "1"}])
    states: set[JobState] = set()
    kinds: set[str] = set()
    after: str | None = None
    async with asyncio.timeout(60):
        async for news in client.events.stream(job_id, "0"):
            if isinstance(news, Counters):
                states.add(news.state)
            if isinstance(news, Changed):
                after = after or news.after
            if isinstance(news, EventView):
                kinds.add(news.kind)
            if JobState.DONE in states and "job_state" in kinds:
                break
    since = await client.items.page(job_id, ItemFilter(order="updated"), after=after)
    assert {item.job_id for item in since.items} <= {job_id}  # the cursor is one that lists take
    logged = [event async for event in client.events.log(job_id)]
    assert {event.job_id for event in logged} == {job_id}
    assert all(event.at is not None for event in logged)


async def test_a_queue_is_fed(client: Client):
    rows = Rows(items=[{"id": "1"}, {"id": "2"}], handler="shop.price", key=["id"])
    fed = await client.queues.feed("orders", rows)
    assert (fed.added, fed.known) == (2, 0)
    again = await client.queues.feed("orders", Rows(items=[{"id": "2"}, {}], key=["id"]))
    assert (again.job_id, again.added, again.known, again.bad) == (fed.job_id, 1, 1, 1)
    assert [queue.name for queue in await client.queues.ls()] == ["orders"]
    assert (await client.queues.get("orders")).counts.total == 3
    assert not (await client.queues.close("orders")).open
    with pytest.raises(JobNotFound):
        await client.queues.get("orders")
    with pytest.raises(Refused, match="name its handler in `handler`"):
        await client.queues.feed("orders", Rows(items=[{"id": "3"}]))
    with pytest.raises(Refused, match="one entry for each"):
        await client.queues.feed("orders", Rows(items=[{}], handler="shop.price", lines=[]))


async def test_each_user_sees_only_their_own_jobs(client: Client, api: ApiServer):
    job_id = await client.submit.items(PRICE, [{"id": "1"}])
    await client.users.add("ann", Role.USER)
    token = await client.tokens.add("ann", label="laptop", expires_in_s=3_600)
    assert token.token not in repr(token)
    assert "ann" in {user.name for user in await client.users.ls()}
    async with Client(api.url, token.token) as ann:
        assert (await ann.me()).name == "ann"
        assert [job async for job in ann.jobs.all()] == []
        with pytest.raises(JobNotFound):
            await ann.jobs.cancel(job_id)
        with pytest.raises(ItemNotFound) as unseen:
            await ann.items.get("1")
        assert isinstance(unseen.value, UnknownItem)
        with pytest.raises(NotAllowed):
            await ann.workers.ls()
        mine = await ann.queues.feed("orders", Rows(items=[{"id": "1"}], handler="shop.price"))
        assert [queue.id for queue in await ann.queues.ls()] == [mine.job_id]
        assert (await client.jobs.get(mine.job_id)).owner == "ann"
        await client.tokens.revoke(token.id)
        with pytest.raises(NotAllowed):
            await ann.me()
    assert token.id not in {each.id for each in await client.tokens.ls()}
    assert (await client.users.disable("ann")).disabled_at is not None
    with pytest.raises(Refused, match="ann"):
        await client.tokens.add("ann")
    assert (await client.users.change("ann", role=Role.VIEWER)).disabled_at is not None
    back = await client.users.enable("ann")
    assert (back.role, back.disabled_at) == (Role.VIEWER, None)
    with pytest.raises(NotFound):
        await client.users.disable("nobody")


async def test_an_operator_sees_workers_and_gates(client: Client):
    assert (await client.health()).ok
    while not (workers := await client.workers.ls()):  # noqa: ASYNC110  the server answers before
        await asyncio.sleep(0.05)  # noqa: TID251  a worker tells no event here
    assert workers[0].host
    system = await client.system()
    assert system.database.size_bytes > 0
    assert system.queue.counts.total == system.database.items
    gates = await client.providers.set_rate("wikidata", "5/s", for_s=60)
    assert gates.items[0].override is not None
    assert gates.items[0].override.rate == 5.0
    assert gates.now is not None
    assert (await client.providers.pause("wikidata")).items[0].closed
    assert (await client.providers.resume("wikidata")).items[0].override is None
    used = {gate.key for gate in (await client.providers.ls()).items}
    assert used == {"provider:wikidata"}
    assert len((await client.providers.ls("all")).items) > 1
    await client.providers.forget("wikidata")
    assert (await client.providers.ls()).items == []
    with pytest.raises(NotFound, match="did you mean"):
        await client.providers.get("wikidta")
