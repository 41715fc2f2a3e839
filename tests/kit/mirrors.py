"""Passes over a mirror, made through the public verbs: pages are claimed and settled with rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.core.item import ClaimedItem, NewItem
from headgate.core.job import Job, NewJob
from headgate.core.mirror import Attachment, Closing, FollowUp, MirrorRow, PassMode, Proof
from headgate.core.status import ItemStatus
from headgate.ports.items import SettleReport, SettleRequest
from headgate.ports.mirrors import (
    Checkpoint,
    NewCheckpoint,
    PassRequest,
    RowQuery,
    StoredRow,
    Stream,
)
from headgate.ports.store import Store
from tests.kit import factories

PEOPLE = NewCheckpoint("people", "people", {"close": "people"})
PETS = NewCheckpoint("pets", "pets", {"close": "pets"}, after="people")


def pages(count: int, checkpoint: str = "people") -> list[NewItem]:
    return [NewItem(f"{checkpoint}/{n}", "{}", checkpoint=checkpoint) for n in range(count)]


def rows(*ids: object, stream: str = "people", **more: Any) -> list[MirrorRow]:
    """A row for each id; `body` replaces its content, which its hash follows."""
    body = more.pop("body", {})
    return [
        MirrorRow(stream, str(each), {"id": each, **body}, f"hash of {each} {body}", **more)
        for each in ids
    ]


def a_pass(
    items: Sequence[NewItem] = (),
    checkpoints: Sequence[NewCheckpoint] = (PEOPLE,),
    mirror: str = "books",
    **more: Any,
) -> PassRequest:
    job = NewJob("extract", f"mirror:{mirror}")
    return PassRequest(mirror, {"url": "x"}, "digest", job, checkpoints, items, **more)


async def begin(store: Store, count: int = 1, **more: Any) -> Job:
    """A pass with that many pages of people."""
    return await store.mirrors.begin_pass(a_pass(pages(count), **more))


class PassRun:
    """A worker that does one pass, page by page."""

    def __init__(self, store: Store, job: Job, who: str) -> None:
        self.store = store
        self.job = job
        self.who = who

    async def claim(self, limit: int = 100) -> list[ClaimedItem]:
        return await factories.claim(self.store, self.job.id, self.who, limit)

    def attachment(self, item: ClaimedItem, **more: Any) -> Attachment:
        return Attachment(item.id, item.job_id, item.epoch, **more)

    async def settle(
        self, item: ClaimedItem, status: ItemStatus = ItemStatus.DONE, **more: Any
    ) -> SettleReport:
        """Settle one item with what it brings."""
        settlements = [factories.settlement(item, status)]
        attachments = [self.attachment(item, **more)]
        request = SettleRequest(self.who, settlements, attachments=attachments)
        return await self.store.items.settle_many(request)

    async def settle_all(self, given: Mapping[ClaimedItem, Mapping[str, Any]]) -> SettleReport:
        """Settle several items in one batch."""
        settlements = [factories.settlement(item, ItemStatus.DONE) for item in given]
        attachments = [self.attachment(item, **more) for item, more in given.items()]
        request = SettleRequest(self.who, settlements, attachments=attachments)
        return await self.store.items.settle_many(request)

    async def close(
        self, checkpoint: str = "people", proof: Proof = Proof.COVERED, **more: Any
    ) -> None:
        """Claim the closing item of a checkpoint and let it close."""
        (item,) = await self.claim(1)
        assert item.key.startswith(f"{checkpoint}/closing/"), item.key
        await self.settle(item, closing=Closing(checkpoint, proof, **more))

    async def checkpoint(self, name: str = "people") -> Checkpoint:
        found = await self.store.mirrors.checkpoints(self.job.id)
        return next(each for each in found if each.name == name)

    async def stream(self, name: str = "people") -> Stream:
        mirror_id = (await self.store.reads.job(self.job.id)).mirror_id
        assert mirror_id is not None
        found = await self.store.mirrors.streams(mirror_id)
        return next(each for each in found if each.name == name)

    async def stored(self, name: str = "people", *, deleted: bool = False) -> list[StoredRow]:
        stream = await self.stream(name)
        query = RowQuery(stream.id, limit=10_000, deleted=deleted)
        return await self.store.mirrors.rows(query)

    async def live(self, name: str = "people") -> list[str]:
        return [row.id for row in await self.stored(name)]


async def run_of(store: Store, count: int = 1, **more: Any) -> PassRun:
    """A pass that has just begun, and a worker for it."""
    job = await begin(store, count, **more)
    assert not job.made_before
    return PassRun(store, job, await factories.worker(store))


async def whole_pass(
    store: Store, *ids: object, proof: Proof = Proof.COVERED, **more: Any
) -> PassRun:
    """A pass of one page with these rows, closed and finished."""
    run = await run_of(store, **more)
    (page,) = await run.claim(1)
    await run.settle(page, rows=rows(*ids))
    await run.close(proof=proof)
    assert await store.jobs.finish_job(run.job.id)
    return run


def follow_up(key: str, checkpoint: str = "people", **values: Any) -> FollowUp:
    return FollowUp(key, values, checkpoint)


INCREMENTAL = PassMode.INCREMENTAL
