"""Whatever is done to a store, in whatever order, it agrees with a model of a few dictionaries."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from headgate.core.errors import IllegalMove, UsageError
from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.core.status import (
    FINISHED,
    JOB_TRANSITIONS,
    OPEN,
    TRANSITIONS,
    UNFINISHED,
    ItemMove,
    ItemStatus,
    JobMove,
    JobState,
)
from headgate.ports.items import EnqueueRequest, HeldLease, RequeueRequest, ReviewDecision
from tests.kit import factories

CLAIMABLE = {JobState.QUEUED, JobState.RUNNING}
STEERED = [
    JobMove.PAUSE,
    JobMove.RESUME,
    JobMove.CANCEL,
    JobMove.FAIL,
    JobMove.FINISH,
    JobMove.REPROCESS,
]
KEYS = st.lists(st.integers(0, 30), min_size=1, max_size=8, unique=True)


@dataclass
class ModelItem:
    key: str
    status: ItemStatus = ItemStatus.PENDING
    epoch: int = 0
    worker: str | None = None
    attempts: int = 0
    history: int = 0


class StoreAgainstModel(RuleBasedStateMachine):
    """One open job, two workers, and every verb that changes them."""

    place = None
    """Set by the test: the database all runs share, each with a job of its own."""
    leases = Bundle("leases")

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.store = self.run(self.place.store().__aenter__())
        job = self.run(self.store.jobs.create_job(NewJob("h", "queue:model", open=True)))
        self.job_id, self.state, self.open = job.id, job.state, True
        self.workers = {self.run(factories.worker(self.store)): True for _ in range(2)}
        self.items: dict[int, ModelItem] = {}

    def run(self, verb):
        return self.loop.run_until_complete(verb)

    def teardown(self):
        if self.state in UNFINISHED:
            self.run(self.store.jobs.move_job(self.job_id, JobMove.CANCEL))
        for worker in self.workers:
            self.run(self.store.jobs.retire(worker, "the run is over"))
        while self.run(self.store.jobs.delete_job(self.job_id)):
            pass
        assert self.run(self.store.reads.check(repair=False)) == []
        self.run(self.store.__aexit__(None, None, None))
        self.loop.close()

    def in_order(self, *statuses):
        return [id_ for id_, item in sorted(self.items.items()) if item.status in statuses]

    def end_lease(self, item_id, status):
        item = self.items[item_id]
        item.status, item.worker = status, None

    @rule(numbers=KEYS)
    def enqueue(self, numbers):
        rows = [NewItem(f"k{number}", "{}", number) for number in numbers]
        request = EnqueueRequest(self.job_id, rows)
        if self.state not in UNFINISHED or not self.open:
            with pytest.raises(UsageError):
                self.run(self.store.items.enqueue_many(request))
            return
        known = {item.key for item in self.items.values()}
        report = self.run(self.store.items.enqueue_many(request))
        assert report.inserted == sum(row.key not in known for row in rows)
        assert {row.key for row in report.known} == known & {row.key for row in rows}
        for row in self.run(self.store.reads.export_rows(self.job_id, 0, 1_000)):
            self.items.setdefault(row.id, ModelItem(row.key))

    @rule(target=leases, who=st.integers(0, 1), limit=st.integers(1, 6))
    def claim(self, who, limit):
        worker = list(self.workers)[who]
        taken = self.run(factories.claim(self.store, self.job_id, worker, limit))
        allowed = self.workers[worker] and self.state in CLAIMABLE
        expected = self.in_order(ItemStatus.PENDING)[:limit] if allowed else []
        assert [item.id for item in taken] == expected
        for item in taken:
            model = self.items[item.id]
            model.status, model.worker, model.epoch = ItemStatus.PROCESSING, worker, model.epoch + 1
            assert (item.epoch, item.attempts) == (model.epoch, model.attempts)
        if taken:
            self.state = JobState.RUNNING
        return multiple(*((worker, item) for item in taken))

    @rule(lease=leases, status=st.sampled_from(list(factories.VERDICTS)))
    def settle(self, lease, status):
        worker, item = lease
        model = self.items.get(item.id)
        refused = self.run(factories.finish(self.store, worker, [item], status))
        if model is None or (model.worker, model.epoch) != (worker, item.epoch):
            assert refused == [item.id]
            return
        assert refused == []
        self.end_lease(item.id, status)
        model.attempts += 1
        model.history += 1

    @rule(lease=leases)
    def release(self, lease):
        worker, item = lease
        model = self.items.get(item.id)
        held = model is not None and (model.worker, model.epoch) == (worker, item.epoch)
        released = self.run(self.store.items.release(worker, [HeldLease(item.id, item.epoch)]))
        assert released == int(held)
        if held:
            self.end_lease(item.id, ItemStatus.PENDING)

    @rule(who=st.integers(0, 1))
    def retire(self, who):
        worker = list(self.workers)[who]
        held = [id_ for id_, item in self.items.items() if item.worker == worker]
        assert self.run(self.store.jobs.retire(worker, "gone")) == len(held)
        for item_id in held:
            self.end_lease(item_id, ItemStatus.PENDING)
        del self.workers[worker]
        self.workers[self.run(factories.worker(self.store))] = True

    @rule(move=st.sampled_from(STEERED))
    def steer(self, move):
        sources, target = JOB_TRANSITIONS[move]
        unfinished = bool(self.in_order(*OPEN)) or self.open
        if self.state not in sources or (move is JobMove.FINISH and unfinished):
            with pytest.raises(IllegalMove):
                self.run(self.store.jobs.move_job(self.job_id, move))
            return
        self.run(self.store.jobs.move_job(self.job_id, move))
        self.state = target

    @rule()
    def close(self):
        self.run(self.store.jobs.close_queue(self.job_id))
        self.open = False

    @rule()
    def finish(self):
        lawful = self.state in CLAIMABLE and not self.open and not self.in_order(*OPEN)
        assert self.run(self.store.jobs.finish_job(self.job_id)) is lawful
        if lawful:
            self.state = JobState.DONE

    @precondition(lambda self: self.state is JobState.CANCELLED)
    @rule(limit=st.integers(1, 4))
    def cancel_items(self, limit):
        still_open = self.in_order(*OPEN)
        moved = self.run(self.store.items.cancel_items(self.job_id, limit))
        assert bool(moved) == bool(still_open)
        assert moved <= limit
        for row in self.run(self.store.reads.export_rows(self.job_id, 0, 1_000)):
            model = self.items[row.id]
            if row.status is ItemStatus.CANCELLED and model.status in OPEN:
                model.history += model.status is ItemStatus.PROCESSING
                self.end_lease(row.id, ItemStatus.CANCELLED)

    @rule(statuses=st.sets(st.sampled_from(sorted(FINISHED)), min_size=1), reset=st.booleans())
    def requeue(self, statuses, reset):
        request = RequeueRequest(self.job_id, frozenset(statuses), reset_attempts=reset)
        expected = self.in_order(*statuses)
        assert self.run(self.store.items.requeue(request)).moved == len(expected)
        for item_id in expected:
            self.end_lease(item_id, ItemStatus.PENDING)
            if reset:
                self.items[item_id].attempts = 0
        if expected and self.state not in UNFINISHED:
            self.state = JobState.QUEUED

    @rule(data=st.data(), move=st.sampled_from([ItemMove.REJECT, ItemMove.PASS_OVER]))
    def decide(self, data, move):
        if not self.items:
            return
        item_id = data.draw(st.sampled_from(sorted(self.items)))
        decision = ReviewDecision(item_id, move, "ann")
        if self.items[item_id].status is not ItemStatus.REVIEW:
            with pytest.raises(IllegalMove):
                self.run(self.store.items.decide(decision))
            return
        self.run(self.store.items.decide(decision))
        self.end_lease(item_id, TRANSITIONS[move].target)

    @precondition(lambda self: self.state is JobState.FAILED)
    @rule(limit=st.integers(1, 4))
    def discard(self, limit):
        first = sorted(self.items)[:limit]
        assert self.run(self.store.jobs.discard_items(self.job_id, limit)) == len(first)
        for item_id in first:
            del self.items[item_id]

    @invariant()
    def the_store_agrees(self):
        counts = self.run(self.store.reads.counts(self.job_id))
        for status in ItemStatus:
            assert getattr(counts, status.lower()) == len(self.in_order(status))
        rows = self.run(self.store.reads.export_rows(self.job_id, 0, 1_000))
        assert {row.id: row.status for row in rows} == {
            id_: item.status for id_, item in self.items.items()
        }
        assert self.run(self.store.reads.job(self.job_id)).state is self.state
        demand = self.run(self.store.jobs.demand([self.job_id], None))
        claimable = self.state in CLAIMABLE and bool(self.in_order(ItemStatus.PENDING))
        assert bool(demand.contenders) is claimable

    @invariant()
    def details_agree(self):
        for item_id, model in list(self.items.items())[:3]:
            detail = self.run(self.store.reads.item(item_id))
            assert (detail.epoch, detail.row.locked_by) == (model.epoch, model.worker)
            assert detail.row.attempts == model.attempts
            assert len(self.run(self.store.reads.attempts(item_id))) == model.history


def test_a_store_agrees_with_the_model_whatever_is_done_to_it(place):
    machine = type("Machine", (StoreAgainstModel,), {"place": place})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
