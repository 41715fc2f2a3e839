"""Random schedules of a pass: every checkpoint is closed once, never early, and the rows are exact.

Pages of people bring pets. Pages fail, workers die with their leases, settlements come too late,
batches are of any size, and the job is requeued until nothing has failed.
"""

import asyncio
import json
from collections import Counter
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.core.mirror import Attachment, Closing, Proof
from headgate.core.status import ItemStatus
from headgate.ports.items import HeldLease, RequeueRequest, SettleRequest
from tests.kit import factories
from tests.kit.mirrors import PEOPLE, PETS, PassRun, a_pass, follow_up, pages, rows

STEPS = 3_000


class Schedule:
    """One pass over a mirror that has rows of an earlier pass."""

    def __init__(self, run, random):
        self.run = run
        self.store = run.store
        self.random = random
        self.leased = []
        self.failures = Counter()
        self.last_page = random.randrange(5)
        self.pets_of: dict[int, list[str]] = {}
        self.done_pets: set[str] = set()
        self.closed: list[str] = []

    def chance(self):
        """A number of 100."""
        return self.random.randrange(100)

    async def work(self):
        for _ in range(STEPS):
            if self.leased and self.chance() < 50:
                await self.end_some()
            elif not await self.take() and not self.leased and not await self.start_again():
                return
        raise AssertionError("the pass does not end")

    async def take(self):
        taken = await self.run.claim(1 + self.chance() % 3)
        self.leased += taken
        return bool(taken)

    async def end_some(self):
        """Settle a batch of random size, some of it too late."""
        batch = [
            self.leased.pop(self.chance() % len(self.leased))
            for _ in range(min(len(self.leased), 1 + self.chance() % 3))
        ]
        settlements, attachments = [], []
        for item in batch:
            chance = self.chance()
            if chance < 10:
                held = [HeldLease(item.id, item.epoch)]
                await self.store.items.release(self.run.who, held)
            failed = 10 <= chance < 25 and self.failures[item.key] < 2
            self.failures[item.key] += failed
            status = ItemStatus.ERROR if failed else ItemStatus.DONE
            settlements.append(factories.settlement(item, status))
            late = chance < 10
            more = {} if failed else await self.outcome(item, late=late)
            attachments.append(Attachment(item.id, item.job_id, item.epoch, **more))
        await self.store.items.settle_many(
            SettleRequest(self.run.who, settlements, attachments=attachments)
        )

    async def outcome(self, item, *, late):
        values = json.loads(item.input)
        if "close" in values:
            return await self.closing(values["close"], late=late)
        if "pet" in values:
            if not late:
                self.done_pets.add(values["pet"])
            return {"rows": rows(values["pet"], stream="pets")}
        page = values.get("page", 0)
        pets = [f"{page}-{n}" for n in range(self.chance() % 4)]
        if late:
            pets = ["never"]
        else:
            self.pets_of[page] = pets
        brings = [follow_up(f"pets/{pet}", "pets", pet=pet) for pet in pets]
        if page < self.last_page:
            brings.append(follow_up(f"people/{page + 1}", page=page + 1))
        return {"rows": rows(page), "items": brings}

    async def closing(self, checkpoint, *, late):
        """A closing item runs only when all pages that it stands for have ended well."""
        assert len(self.pets_of) == self.last_page + 1
        if checkpoint == "pets":
            assert self.done_pets == {pet for pets in self.pets_of.values() for pet in pets}
        if not late:
            self.closed.append(checkpoint)
        return {"closing": Closing(checkpoint, Proof.COVERED)}

    async def start_again(self):
        """Nothing is due: what has failed keeps its checkpoint open, and is brought back."""
        finished = await self.store.jobs.finish_job(self.run.job.id)
        counts = await self.store.reads.counts(self.run.job.id)
        if not finished:
            return True
        if not counts.error:
            return False
        failed = await self.failed_checkpoints()
        for checkpoint in await self.store.mirrors.checkpoints(self.run.job.id):
            assert not (checkpoint.name in failed and checkpoint.completed_at)
            if checkpoint.completed_at is None:
                assert f"old {checkpoint.name}" in await self.run.live(checkpoint.stream)
        await self.store.items.requeue(RequeueRequest(self.run.job.id))
        return True

    async def failed_checkpoints(self):
        found = await self.store.reads.export_rows(self.run.job.id, 0, 1_000)
        return {
            row.key.partition("/")[0]
            for row in found
            if row.status is ItemStatus.ERROR and "/closing/" not in row.key
        }


async def old_rows(store, mirror):
    """A first pass, whose rows the next one does not see."""
    both = [PEOPLE, PETS]
    request = a_pass(pages(1), both, mirror)
    run = PassRun(store, await store.mirrors.begin_pass(request), await factories.worker(store))
    (page,) = await run.claim()
    given_rows = [*rows("old people"), *rows("old pets", stream="pets")]
    await run.settle(page, rows=given_rows)
    await run.close("people")
    await run.close("pets")
    assert await store.jobs.finish_job(run.job.id)


async def play(place, seed, number):
    async with place.store() as store:
        mirror = f"model-{number}"
        await old_rows(store, mirror)
        job = await store.mirrors.begin_pass(a_pass(pages(1), [PEOPLE, PETS], mirror))
        run = PassRun(store, job, await factories.worker(store))
        schedule = Schedule(run, Random(seed))
        await schedule.work()
        assert sorted(schedule.closed) == ["people", "pets"]
        people, pets = await store.mirrors.checkpoints(job.id)
        assert people.completed_at <= pets.completed_at
        assert set(await run.live("people")) == {str(n) for n in range(schedule.last_page + 1)}
        assert set(await run.live("pets")) == schedule.done_pets
        assert (people.added, people.repeated) == (schedule.last_page + 1, 0)
        assert pets.added == len(schedule.done_pets)
        assert await store.reads.check(repair=False) == []


def test_each_checkpoint_is_closed_once_whatever_the_schedule(place):
    numbers = iter(range(1_000))

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32))
    def schedules(seed):
        asyncio.run(play(place, seed, next(numbers)))

    schedules()
