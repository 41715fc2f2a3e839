"""Jobs, workers and items in any state, made through the public verbs only."""

import itertools
from collections.abc import Sequence

import msgspec

from headgate.core.fault import FaultClass
from headgate.core.gates.state import GateState, Member
from headgate.core.item import ClaimedItem, NewItem
from headgate.core.job import Job, NewJob
from headgate.core.pacing.level import Level
from headgate.core.pacing.state import PaceState
from headgate.core.retry import FINISHED, RetryDecision
from headgate.core.settlement import Settlement, settle
from headgate.core.status import UNFINISHED, ItemStatus, JobMove, JobState
from headgate.core.worker import WorkerInfo
from headgate.ports.items import ClaimRequest, EnqueueRequest, SettleRequest
from headgate.ports.limits import Proposal
from headgate.ports.store import Store

RESULT = '{"price":12.5}'
_numbers = itertools.count(1)

VERDICTS = {
    ItemStatus.DONE: FINISHED,
    ItemStatus.NOT_FOUND: RetryDecision(ItemStatus.NOT_FOUND, "not_found", reason="no such thing"),
    ItemStatus.SKIPPED: RetryDecision(ItemStatus.SKIPPED, "skipped", reason="left alone"),
    ItemStatus.REVIEW: RetryDecision(ItemStatus.REVIEW, "review", reason="needs a decision"),
    ItemStatus.ERROR: RetryDecision(
        ItemStatus.ERROR,
        "error",
        failed=True,
        error_class=FaultClass.PERMANENT,
        reason="gave up",
    ),
    ItemStatus.PENDING: RetryDecision(
        ItemStatus.PENDING,
        "retry",
        failed=True,
        error_class=FaultClass.TRANSIENT,
        reason="try again",
    ),
}


def rows(count: int, start: int = 1, gates: Sequence[str] = ("",)) -> list[NewItem]:
    """New items with a line and a key each; the gates take turns."""
    return [
        NewItem(f"key-{line}", f'{{"n":{line}}}', line, gates[line % len(gates)], f"row {line}")
        for line in range(start, start + count)
    ]


async def worker(store: Store, name: str | None = None) -> str:
    """A registered worker."""
    name = name or f"worker-{next(_numbers)}"
    info = WorkerInfo(name, "session", "host", "boot", 4711, 99, "0.1", 10.0)
    await store.jobs.register(info)
    return name


async def job(
    store: Store, items: int = 0, new: NewJob | None = None, gates: Sequence[str] = ("",)
) -> Job:
    """A QUEUED job with that many PENDING items."""
    made = await store.jobs.create_job(new or NewJob("price.lookup", f"file-{next(_numbers)}.csv"))
    if items:
        await store.items.enqueue_many(EnqueueRequest(made.id, rows(items, gates=gates)))
    if made.state is JobState.INGESTING:
        made = await store.jobs.complete_ingest(made.id, ("n",))
    return made


async def claim(
    store: Store,
    job_id: int,
    who: str,
    limit: int = 100,
    *,
    suspects: bool = False,
) -> list[ClaimedItem]:
    """Lease items for a minute."""
    return await store.items.claim(ClaimRequest(who, job_id, limit, 60.0, suspects))


async def gate(store: Store, key: str, *workers: str) -> None:
    """A gate in the ledger, at which these workers stand."""
    now_s = (await store.limits.exchange((), [])).now_s
    state = GateState(PaceState(rate=Level()), {each: Member(now_s, -1.0) for each in workers})
    text = msgspec.json.encode(state).decode()
    await store.limits.exchange([Proposal(key, 0, text)], [])


def settlement(item: ClaimedItem, status: ItemStatus) -> Settlement:
    """The write that brings a leased item into `status`."""
    has_result = status in {ItemStatus.DONE, ItemStatus.REVIEW}
    return settle(item, VERDICTS[status], RESULT if has_result else None, ran_us=1_000)


async def finish(
    store: Store,
    who: str,
    items: Sequence[ClaimedItem],
    status: ItemStatus = ItemStatus.DONE,
) -> list[int]:
    """Settle leased items; return the ids that were refused."""
    settlements = [settlement(item, status) for item in items]
    report = await store.items.settle_many(SettleRequest(who, settlements))
    return list(report.refused)


async def job_of(store: Store, status: ItemStatus, items: int = 1) -> Job:
    """A job whose items are all in `status`."""
    made = await job(store, items)
    if status is ItemStatus.PENDING:
        return made
    if status is ItemStatus.CANCELLED:
        made = await store.jobs.move_job(made.id, JobMove.CANCEL)
        await store.items.cancel_items(made.id)
        return made
    who = await worker(store)
    leased = await claim(store, made.id, who, items)
    if status is not ItemStatus.PROCESSING:
        await finish(store, who, leased, status)
    return await store.reads.job(made.id)


async def job_in(store: Store, state: JobState) -> Job:
    """An empty job in `state`; one that is PAUSED was reading its source before."""
    made = await store.jobs.create_job(NewJob("price.lookup", f"file-{next(_numbers)}.csv"))
    moves = {
        JobState.INGESTING: [],
        JobState.QUEUED: [JobMove.INGESTED],
        JobState.RUNNING: [JobMove.INGESTED, JobMove.START],
        JobState.PAUSED: [JobMove.PAUSE],
        JobState.DONE: [JobMove.INGESTED, JobMove.FINISH],
        JobState.FAILED: [JobMove.FAIL],
        JobState.CANCELLED: [JobMove.CANCEL],
    }
    for move in moves[state]:
        made = await store.jobs.move_job(made.id, move)
    return made


async def remove(store: Store, job_id: int) -> None:
    """Take a job away, with all that belongs to it."""
    if (await store.reads.job(job_id)).state in UNFINISHED:
        await store.jobs.move_job(job_id, JobMove.CANCEL)
    while await store.jobs.delete_job(job_id):
        pass


async def everything(store: Store, job_id: int) -> dict[int, str]:
    """Every column of every item of a job, as text by id: equal twice means untouched."""
    found = {}
    for row in await store.reads.export_rows(job_id, 0, 1_000_000):
        detail = await store.reads.item(row.id)
        found[row.id] = msgspec.json.encode(detail).decode()
    return found
